import AppContract
import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Navigation
import Support
import Testing

@Suite("'segue contract'", .timeLimit(.minutes(2)))
struct ContractVerbTests {
    @Test("'segue contract export' asks every service and client without a bus, and writes their contracts")
    func export() async throws {
        try await SegueCommandLine.inScratch { segue in
            var segue = segue
            segue.environment["SEGUE_BUS"] = "ipc:///nowhere"
            try ContractShop.write(segue)
            let printed = try await segue("contract", "export")
            try #require(printed.status == 0, "\(printed.error)")
            #expect(printed.error.isEmpty)
            let contract = try AppContract(parsing: Data(printed.output.utf8))
            #expect(contract.parties.keys.sorted() == ["broker", "store", "till"])
            #expect(contract.senders(of: ContractShop.buy) == ["till"])
            #expect(contract.messages[ContractShop.buy]?.data == ContractShop.order)
            #expect(try await segue("contract", "export", "-o", "contract.json").output.isEmpty)
            #expect(try String(contentsOfFile: segue.directory + "/contract.json", encoding: .utf8) == printed.output)
            let nowhere = try await segue("contract", "export", "-o", "no/folder.json")
            #expect(
                nowhere.error.hasSuffix(
                    "no/folder.json cannot be written: No such file or directory; "
                        + "name a file in an existing folder that you may write to\n"
                ))
        }
    }

    @Test("'segue contract export' asks at most four programs at the same time")
    func together() async throws {
        try await SegueCommandLine.inScratch { segue in
            let services = (1...6).map { "  s\($0): {command: ./asked \($0)}" }.joined(separator: "\n")
            try segue.write("name: demo\nservices:\n\(services)")
            // Each of the first four programs waits for the other three. Each of the last two checks that a program
            // has already ended.
            try ContractShop.write(
                """
                touch began-$1
                if [ $1 -le 4 ]; then until [ -e began-1 -a -e began-2 -a -e began-3 -a -e began-4 ]; do :; done
                else ls ended-* >/dev/null || exit 1; fi
                echo '{"name": "n'$1'", "version": "1", "receives": [{"type": "command.Buy"}], "sends": []}'; touch ended-$1
                """, as: "asked", segue)
            let result = try await segue("contract", "export")
            try #require(result.status == 0, "\(result.error)")
            let contract = try AppContract(parsing: Data(result.output.utf8))
            #expect(contract.parties.keys.sorted() == (1...6).map { "s\($0)" })
        }
    }

    @Test("'segue contract export' accepts programs besides those of the file")
    func with() async throws {
        try await SegueCommandLine.inScratch { segue in
            try ContractShop.write(segue)
            let clerk = Document.ServiceContract(
                name: "clerk", version: "1",
                receives: [MessageContract(type: ContractShop.sold, data: .object(["a": .init(.string)]))],
                sends: [])
            try ContractShop.write(clerk, as: "clerk", segue)
            let result = try await segue("contract", "export", "--with", "./clerk 'for ever'")
            let contract = try AppContract(parsing: Data(result.output.utf8))
            #expect(contract.receivers(of: ContractShop.sold) == ["clerk", "till"])
            #expect(
                result.error == "segue: clerk describes event.Sold differently from another service, whose "
                    + "description is used; build both from the same version of the message\n")
        }
    }

    @Test("'segue contract export' names every service that does not answer, with a remedy")
    func unanswered() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                """
                name: demo
                services:
                  refusing: {command: [sh, -c, "echo what is that >&2; echo I know no such option >&2; exit 64"]}
                  talking: {command: [sh, -c, "echo hello"]}
                  missing: {command: nowhere}
                """)
            let result = try await segue("contract", "export")
            #expect(result.output.isEmpty && result.status == 69)
            let advice = "build it with ServiceProcess, or label it 'segue.contract: none'"
            #expect(result.errorLines.count == 3, "\(result.error)")
            #expect(
                result.errorLines.first
                    == "segue: service 'missing': there is no program 'nowhere'; "
                    + "build the program, or correct its name")
            let shell = try await segue.shell("type -P sh").lines[0]
            #expect(
                result.errorLines.dropFirst() == [
                    "segue: service 'refusing' (\(shell)) does not answer --contract: exited with status 64: what is that: "
                        + "I know no such option; \(advice)",
                    "segue: service 'talking' (\(shell)) does not print a contract for --contract; \(advice)",
                ], "\(result.error)")
        }
    }

    @Test("'segue contract export' refuses a contract with an invalid name")
    func names() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write("name: demo\nservices: {evil: {command: ./evil}}")
            let evil = Document.ServiceContract(
                name: "evil", version: "1", receives: [], sends: [], consumers: ["evil", "a b"])
            try ContractShop.write(evil, as: "evil", segue)
            let result = try await segue("contract", "export")
            #expect(result.output.isEmpty && result.status == 1, "\(result)")
            let problem = "'a b' is not the name of a durable consumer of 'evil'; use letters"
            #expect(
                result.error.hasPrefix("segue: service 'evil' prints a contract with an invalid name: \(problem)"),
                "\(result.error)")
        }
    }

    @Test(
        "'segue contract export' ends every program that it started, even when it is interrupted",
        arguments: [
            ("wait", "", "segue: service 'busy' (DIR/./busy) does not answer --contract within 10", 1),
            ("echo {}", "", "segue: service 'busy' (DIR/./busy) does not print a contract for --contract", 1),
            ("echo > begun; wait", "read -r < begun; kill -INT $!;", "", 130),
        ])
    func leftovers(end: String, meanwhile: String, error: String, status: Int32) async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write("name: demo\nservices: {busy: {command: ./busy}}")
            try ContractShop.write("sleep 600 & echo $! > child; \(end)", as: "busy", segue)
            // Without job control, the shell would start the program with the signal ignored.
            let result = try await segue.shell("mkfifo begun; set -m; segue contract export & \(meanwhile) wait $!")
            let error = error.replacing("DIR", with: segue.directory)
            #expect(result.error.hasPrefix(error) && result.status == status, "\(result.error)")
            let child = try String(contentsOfFile: segue.directory + "/child", encoding: .utf8)
            // The process may not have been reaped yet.
            let pid = child.trimmingCharacters(in: .newlines)
            #expect(try await segue.shell("grep -qs '^State:[[:space:]]*[RSDTt]' /proc/\(pid)/status").status != 0)
        }
    }

    @Test("'segue contract check' prints each incompatible change on a line, and fails")
    func check() async throws {
        try await SegueCommandLine.inScratch { segue in
            try ContractShop.write(segue)
            try await segue("contract", "export", "-o", "contract.json")
            let same = try await segue("contract", "check", "contract.json", "-v")
            #expect(same.status == 0 && same.output.isEmpty, "\(same.output)")

            try ContractShop.write(
                segue,
                order: .object([
                    "item": .init(.integer), "size": .init(.enumeration(["M"]), isRequired: false),
                    "note": .init(.string, isRequired: false),
                ]))
            let changed = try await segue("contract", "check", "contract.json")
            #expect(changed.status == 1 && changed.error.isEmpty)
            #expect(
                changed.lines == [
                    "command.Buy: data.item: a whole number now, but read as a string by store; "
                        + "give the new form a name of its own",
                    #"command.Buy: data.size: "S" is unknown now, but may be sent by till; keep it"#,
                ])
            let verbose = try await segue("contract", "check", "contract.json", "-v", "--json")
            #expect(
                verbose.lines.last
                    == #"{"breaking":false,"message":"new, a string, optional","path":"data.note","type":"command.Buy"}"#
            )

            try await segue("contract", "export", "-o", "new.json")
            #expect(try await segue("contract", "check", "contract.json", "new.json").lines == changed.lines)
            #expect(try await segue("contract", "check", "new.json", "new.json").status == 0)
            let old = try String(contentsOfFile: segue.directory + "/contract.json", encoding: .utf8)
            #expect(try await segue("contract", "check", "-", input: old).lines == changed.lines)
            let nothing = try await segue("contract", "check", "-")
            #expect(nothing.status == 65 && nothing.error.hasPrefix("segue: standard input is not a contract: "))
        }
    }

    @Test("'segue contract export' reads the contracts of running processes from the bus")
    func bus() async throws {
        try await SegueCommandLine.onBus { segue in
            let nobody = try await segue("contract", "export", "-p", "demo")
            #expect(nobody.status == 1 && nobody.error.hasPrefix("segue: no process on this bus has published"))
            try await segue.withConnection { bus in
                try await bus.publish(ContractShop.store())
                try await bus.publish(ContractShop.till)
                let running = try await segue("contract", "export", "--bus", try segue.bus)
                try #require(running.status == 0, "\(running.error)")
                let contract = try AppContract(parsing: Data(running.output.utf8))
                #expect(contract.receivers(of: ContractShop.buy) == ["store"])
                #expect(contract.senders(of: ContractShop.buy) == ["till"])
            }
        }
    }

    @Test("'segue contract' refuses an invalid contract, and options that contradict each other")
    func refuses() async throws {
        try await SegueCommandLine.inScratch { segue in
            let missing = try await segue("contract", "check", "none.json")
            #expect(missing.status == 66 && missing.errorLines.count == 1)
            try segue.write("{}", to: "empty.json")
            let empty = try await segue("contract", "check", "empty.json")
            #expect(empty.status == 65)
            #expect(empty.error.hasPrefix("segue: empty.json is not a contract: the JSON is not an AsyncAPI"))
            #expect(try await segue("contract", "export", "-f", "a.yaml", "-p", "b").status == 64)
            #expect(try await segue("contract", "export", "--with", "'open").status == 64)
            #expect(try await segue("contract", "export").error.hasPrefix("segue: there is no compose file in"))
        }
    }

    @Test("The help of 'segue contract' has examples", arguments: [[], ["export"], ["check"]])
    func help(verb: [String]) async throws {
        try await SegueCommandLine.inScratch { segue in
            let help = try await segue.run(["contract"] + verb + ["--help"])
            #expect(help.status == 0 && help.output.contains("segue contract \(verb.first ?? "export")"))
        }
    }
}
