import AppContract
import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Testing

@Suite("Check of sent messages with the contracts", .timeLimit(.minutes(1)))
struct SendCheckTests {
    /// Runs `body` on a bus with the contract and the presence of a store.
    private func inShop(
        _ body: @escaping @Sendable (SegueCommandLine, EventBus) async throws -> Void
    ) async throws {
        try await SegueCommandLine.onBus { segue in
            try await segue.withConnection { bus in
                try await bus.publish(ContractShop.store())
                let presence = Document.Presence(
                    name: "store", version: "1", instance: "s1", pid: 1, receives: ["command.Buy", "event.Sold"],
                    sends: [])
                try await bus.publish(presence)
                try await body(segue, bus)
            }
        }
    }

    private static func bought(_ bus: EventBus) async throws -> UInt64 {
        try await bus.inspect.newest(matching: [.type(ContractShop.buy)]).offset
    }

    @Test("A message that does not match is refused, with the field and the closest one")
    func send() async throws {
        try await inShop { segue, bus in
            let good = try await segue("send", "command.Buy", #"{"item": "hat", "size": "M"}"#)
            #expect(good.status == 0 && good.error.isEmpty, "\(good.error)")
            let before = try await Self.bought(bus)
            for (data, problem) in [
                (#"{"itm": "hat"}"#, "data.itm: unknown field; did you mean 'item'?"),
                (#"{"item": 5}"#, "data.item: expected a string, found a number"),
                ("{}", "data.item: missing; expected a string"),
                (
                    #"{"item": "hat", "size": "s", "n": 1}"#,
                    #"data.n: unknown field; known: item, size, data.size: expected one of "S", "M", found "s"; did you mean "S"?"#
                ),
            ] {
                let bad = try await segue("send", "command.Buy", data)
                #expect(bad.status == 65 && bad.output.isEmpty)
                #expect(bad.error == "segue: command.Buy: \(problem); correct it, or use --no-check\n")
            }
            #expect(try await Self.bought(bus) == before, "nothing was sent")
            #expect(try await segue("send", "command.Buy", #"{"item": 5}"#, "--no-check").status == 0)
            #expect(try await Self.bought(bus) > before)
        }
    }

    @Test("A message is checked with the readable contracts, and the unreadable ones are named")
    func unreadable() async throws {
        try await inShop { segue, bus in
            var attributes = Attributes(type: Document.ServiceContract.type, source: "kiosk/7")
            attributes.key = "k7"
            let position = try await bus.publish(
                Batch([Envelope(attributes: attributes, data: Data(#"{"name":"kiosk","version":1}"#.utf8))]))
            let line =
                "segue: ignored the contract document.ServiceContract[k7] of kiosk/7 at \(position): "
                + "document.ServiceContract \(attributes.id) has data that cannot be read: "
            let sent = try await segue("send", "command.Buy", #"{"item": "hat"}"#)
            #expect(sent.status == 0 && sent.error.hasPrefix(line), "\(sent.error)")
            let refused = try await segue("send", "command.Buy", #"{"item": 5}"#)
            #expect(refused.status == 65 && refused.errorLines.count == 2 && refused.error.hasPrefix(line))
            // It may be described in the contract that cannot be read.
            for unknown in [["send", "command.Sell", "{}"], ["ask", "Stock"]] {
                let unchecked = try await segue.run(unknown)
                #expect(unchecked.status == 65 && unchecked.errorLines.count == 2 && unchecked.error.hasPrefix(line))
                #expect(unchecked.error.contains("cannot be checked"), "\(unchecked.error)")
            }
            let asked = try await segue("ask", "Stock", "--no-check")
            #expect(asked.status == 69 && asked.errorLines.count == 1, "\(asked.error)")
            let address = try segue.bus
            let exported = try await segue("contract", "export", "--bus", address)
            #expect(exported.status == 0 && exported.error.hasPrefix(line), "\(exported.error)")
            let contract = try AppContract(parsing: Data(exported.output.utf8))
            #expect(contract.parties.keys.sorted() == ["store"])
        }
    }

    @Test("A message of an unknown type is refused, and --no-check sends it with a warning")
    func unknown() async throws {
        try await inShop { segue, _ in
            let refused = try await segue("send", "command.Bye", #"{"item": 5}"#)
            #expect(refused.status == 65 && refused.output.isEmpty)
            #expect(
                refused.error
                    == "segue: no process on the bus knows command.Bye; did you mean command.Buy? To send it "
                    + "nevertheless, use --no-check\n")
            let result = try await segue("send", "command.Bye", #"{"item": 5}"#, "--no-check")
            #expect(result.status == 0)
            #expect(
                result.error.contains(
                    "no process on the bus receives command.Bye at the moment; did you mean command.Buy?"))
        }
    }

    @Test("A command that only a flow receives is checked with the fields that the flow declares")
    func flow() async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(
                """
                name: shop
                version: 1
                platform: ios
                start: list
                commands:
                  command.Rated: { stars: integer, text?: string }
                screens: { list: { sends: [command.Rated, command.Closed] }, thanks: }
                transitions:
                  - { on: command.Rated, do: [{ push: thanks }] }
                  - { on: command.Closed, do: [pop] }
                """, to: "flow.yaml")
            try segue.write(
                """
                name: demo
                services:
                  broker: { command: broker, healthcheck: { test: [NOTIFY] } }
                  ios:
                    command: navigation-coordinator --flow flow.yaml
                    healthcheck: { test: [NOTIFY] }
                    depends_on: { broker: { condition: service_healthy } }
                """)
            let up = try await segue("up", "-d", "--wait")
            try #require(up.status == 0, "\(up.error)")
            let wrong = try await segue("send", "command.Rated", #"{"star": 5}"#)
            #expect(wrong.status == 65)
            #expect(wrong.error.contains("data.star: unknown field; did you mean 'stars'?"), "\(wrong.error)")
            #expect(try await segue("send", "command.Rated", #"{"stars": 5}"#).status == 0)
            #expect(try await segue("send", "command.Closed", #"{"x": 5}"#).status == 0, "its fields are not declared")
            let described = try await segue("describe", "command.Rated")
            #expect(
                described.lines.prefix(4) == [
                    "command.Rated", "fields       stars: a whole number", "             text: a string, optional",
                    "sent by      no process",
                ], "\(described.output)")
            for origin in [["-f", "compose.yaml"], ["-p", "demo"]] {
                let exported = try await segue.run(["contract", "export"] + origin)
                let contract = try AppContract(parsing: Data(exported.output.utf8))
                let rated = try #require(MessageType("command.Rated"))
                #expect(contract.messages[rated]?.data?.fields == ["stars", "text"], "\(exported)")
            }
        }
    }

    @Test("Any type is sent with a warning while no process has published its contract")
    func emptyBus() async throws {
        try await SegueCommandLine.onBus { segue in
            let result = try await segue("send", "command.Bye")
            #expect(result.status == 0)
            #expect(result.error.contains("no process on the bus receives command.Bye at the moment"))
        }
    }

    @Test("A query that does not match is refused, and --no-check asks it")
    func ask() async throws {
        try await inShop { segue, _ in
            let bad = try await segue("ask", "Price", #"{"itemName": "hat"}"#)
            #expect(bad.status == 65)
            #expect(bad.error.hasPrefix("segue: query.Price: data.itemName: unknown field; "), "\(bad.error)")
            #expect(try await segue("ask", "Price", "{}", "--no-check").status == 69, "nobody serves it")
        }
    }

    @Test("Messages on lines are sent one by one, and each that does not match is reported")
    func lines() async throws {
        try await inShop { segue, _ in
            let input = #"{"item": "hat"}\#n\#n{"item": 1}\#nhat\#n{"item": "bag"}\#n"#
            let result = try await segue("send", "command.Buy", "-", "--json", input: input)
            #expect(result.status == 65 && result.lines.count == 2, "\(result.output)")
            #expect(
                result.errorLines == [
                    "segue: standard input:3: command.Buy: data.item: expected a string, found a number; "
                        + "correct it, or use --no-check",
                    "segue: standard input:4: the data is not JSON: malformed JSON: expected a value at byte 1",
                    "segue: 2 of 4 messages could not be sent; all other messages were",
                ], "\(result.error)")
            let good = try await segue("send", "--stdin", "command.Buy", input: "{\"item\": \"hat\"}")
            #expect(good.status == 0 && good.lines.count == 1)
            let several = try await segue("send", "command.Buy", "-", input: "{\n\"item\": \"hat\"\n}\n")
            #expect(several.status == 0 && several.lines.count == 1, "one message may be written on several lines")
        }
    }

    @Test("Many messages on lines are sent in order, and refused ones are reported")
    func manyLines() async throws {
        try await inShop { segue, _ in
            let bad = [7: "{}}", 300: #"{"type": "event.Sold", "data": 1}"#]
            let refused = [8, 555, 700, 701]
            let lines = (1...1000).map { number in
                let subject = refused.contains(number) ? String(repeating: "s", count: 256) : "default"
                return bad[number]
                    ?? #"{"type": "event.Sold", "data": {}, "subject": "\#(subject)", "platform": "\#(number)"}"#
            }
            let result = try await segue.run(["send", "--stdin", "--json"], input: lines.joined(separator: "\n"))
            #expect(result.status == 65 && result.lines.count == 994)
            let named = result.errorLines.compactMap { $0.firstMatch(of: #/^segue: standard input:(\d+): /#)?.1 }
            #expect(named == ["7", "8", "300", "555", "700", "701"], "\(result.error)")
            #expect(result.errorLines.last == "segue: 6 of 1000 messages could not be sent; all other messages were")

            let shown = try await segue(
                "monitor", "--type", "event.Sold", "--since", "beginning", "--count", "994", "--json")
            let journalled = try shown.lines.map { try JSONDecoder().decode(Receipt.self, from: Data($0.utf8)) }
            let expected = (1...1000).filter { !named.contains("\($0)") }.map(String.init)
            #expect(journalled.map(\.platform) == expected)
            let told = try result.lines.map { try JSONDecoder().decode(Receipt.self, from: Data($0.utf8)) }
            #expect(told.map(\.id) == journalled.map(\.id))
            #expect(told.map(\.position) == journalled.map(\.position))
        }
    }

    @Test("Messages on lines are all sent, even if the receipts are not read")
    func unreadReceipts() async throws {
        try await inShop { segue, bus in
            let result = try await segue.shell(
                "(for i in $(seq 3000); do echo '{}'; done) | segue send event.Sold --stdin -p demo | head -1 | wc -l")
            #expect(result.output.trimmingCharacters(in: .whitespaces) == "1\n", "\(result.error)")
            let sold = try #require(MessageType("event.Sold"))
            let count = try await bus.withSubscription(to: [.type(sold)], from: .beginning) { messages in
                var count = 0
                for try await _ in messages {
                    count += 1
                    if count == 3000 { break }
                }
                return count
            }
            #expect(count == 3000)
        }
    }

    @Test("Each message on a line is sent when the line arrives")
    func line() async throws {
        try await inShop { segue, _ in
            let result = try await segue.shell(
                """
                mkfifo in out; segue send event.Sold --stdin -p demo < in > out & exec 3> in 4< out
                for line in 1 2 3; do echo '{}' >&3; read -r -u 4 id position; echo "$position"; done
                exec 3>&-; wait $!; echo status $?
                """)
            #expect(result.lines.count == 4 && result.lines.last == "status 0", "\(result.output) \(result.error)")
        }
    }

    @Test("A line or text that is too long ends the command with its number")
    func longLine() async throws {
        try await inShop { segue, _ in
            let result = try await segue.shell(
                "(echo '{}'; echo; head -c 9000000 /dev/zero; echo; echo '{}') | segue send event.Sold --stdin -p demo")
            #expect(result.status == 65 && result.lines.count == 1)
            #expect(
                result.errorLines == [
                    "segue: standard input:3: the line is longer than a message may be; messages sent before it: 1"
                ], "\(result.error.prefix(1000))")
            let endless = try await segue.shell("segue send event.Sold - -p demo < /dev/zero")
            #expect(endless.status == 65)
            #expect(endless.error.hasPrefix("segue: standard input is longer than 64 MiB"), "\(endless.error)")
            let folder = try await segue.shell("segue send event.Sold --stdin -p demo < .")
            #expect(folder.status == 66)
            #expect(folder.error.hasPrefix("segue: standard input cannot be read: Is a directory"), "\(folder.error)")
        }
    }

    @Test("The output of 'segue monitor' can be sent as lines that name their types")
    func typedLines() async throws {
        try await inShop { segue, bus in
            let lines = """
                {"type": "command.Buy", "data": {"item": "hat"}, "platform": "ios", "subject": "alice"}
                {"type": "document.Hats", "data": {"hats": []}, "key": "k"}
                {"type": "Buy"}
                {"data": {}}
                {"type": "event.Sold", "data": 5}
                {"type": "query.Price", "data": {}}
                """
            let result = try await segue("send", "--stdin", input: lines)
            #expect(result.status == 65 && result.lines.count == 2)
            for (line, number) in zip(result.errorLines, 3...6) {
                #expect(line.hasPrefix("segue: standard input:\(number): "))
            }
            #expect(result.error.contains("did you mean command.Buy?"))
            #expect(result.error.contains("query.Price is a query and cannot be published; use 'segue ask'"))
            let sent = try await bus.documents(matching: [.all])
            #expect(sent.contains { $0.type.name == "Hats" && $0.attributes.key == "k" })
            let shown = try await segue(
                "monitor", "--type", "command.Buy", "--since", "beginning", "--count", "1", "--json")
            #expect(shown.output.contains(#""subject":"alice""#) && shown.output.contains(#""platform":"ios""#))
            let again = try await segue("send", "--stdin", input: shown.output)
            #expect(again.status == 0 && again.lines.count == 1, "\(again.error)")
        }
    }

    @Test("A command without a type, or with too many arguments, is wrong usage")
    func usage() async throws {
        try await SegueCommandLine.inScratch { segue in
            for arguments in [
                [], ["command.Buy", "{}", "--stdin", "--key", "a"], ["command.Buy", "{\"a\":1}", "--stdin"],
            ] {
                let result = try await segue.run(["send"] + arguments)
                #expect(result.status == 64 && result.errorLines.count == 1, "\(arguments) \(result.error)")
            }
        }
    }
}
