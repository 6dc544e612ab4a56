import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Support
import Testing

@Suite("Verbs on a bus")
struct BusVerbTests {
    @Test(
        "'segue monitor' shows what 'segue send' has sent, complete and on one line", .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func sendAndMonitor(engine: BusEngine) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            let sent = try await segue(
                "send", "command.PlaylistSelected", "{ \"playlistID\": \"p1\" }", "--platform", "ios", "--json")
            let receipt = try JSONDecoder().decode(Receipt.self, from: Data(sent.output.utf8))
            let plain = try await segue("send", "event.LaunchFinished", "-", input: "{\"n\": 1}")
            let offsets = try await segue.offsets
            #expect(plain.output.hasSuffix(" \(receipt.position.epoch)/\(offsets[1])\n"))

            let monitor = try await segue("monitor", "--since", "\(offsets[0])", "--count", "1", "--json")
            let message = try JSONDecoder().decode(Seen.self, from: Data(monitor.output.utf8))
            #expect(monitor.lines.count == 1)
            #expect(message.id == receipt.id && message.position == receipt.position && message.platform == "ios")
            #expect(message.expirytime == nil && message.data == ["playlistID": "p1"])

            let pretty = try await segue("monitor", "--since", "1h", "--type", "event.*", "--count", "1")
            #expect(pretty.output.contains(" event.LaunchFinished segue/"))
            #expect(pretty.output.hasSuffix(" → {\"n\":1}\n"))
        }
    }

    @Test("A sent command expires after the given time, after 60 s if it names a device, or never")
    func expiry() async throws {
        try await SegueCommandLine.onBus { segue in
            for (arguments, lifetime) in [
                ([], nil), (["--device", "phone"], 60), (["--device", "phone", "--lifetime", "none"], nil),
                (["--lifetime", "5"], 5), (["--lifetime", "2e11"], 2e11),
            ] as [([String], Double?)] {
                let plain = try await segue.run(["send", "command.PlaylistSelected"] + arguments)
                #expect(plain.status == 0, "\(plain.error)")
                let words = plain.output.split(whereSeparator: \.isWhitespace).map(String.init)
                let json = try await segue.run(["send", "command.PlaylistSelected", "--json"] + arguments)
                let receipt = try JSONDecoder().decode(Receipt.self, from: Data(json.output.utf8))
                let monitor = try await segue("monitor", "--last", "--until", "end", "--json")
                let sent = try JSONDecoder().decode(Seen.self, from: Data(monitor.output.utf8))
                #expect(receipt.expirytime == sent.expirytime)
                guard let lifetime else {
                    #expect(words.count == 2 && receipt.expirytime == nil)
                    continue
                }
                try #require(words.count == 4 && words[2] == "expires", "\(plain.output)")
                let expiry = try #require(receipt.expirytime.flatMap(Timestamp.date(from:)))
                let time = try #require(Timestamp.date(from: sent.time))
                #expect(abs(expiry.timeIntervalSince(time) - lifetime) < 0.01)
                #expect(Timestamp.date(from: words[3]) != nil)
            }
            let endless = try await segue("send", "command.PlaylistSelected", "--lifetime", "1e12")
            #expect(endless.status == 64 && endless.errorLines.count == 1, "\(endless.error)")
        }
    }

    @Test("An attribute that is too long for the bus is refused with its name")
    func longAttribute() async throws {
        try await SegueCommandLine.onBus { segue in
            let device = String(repeating: "d", count: 65_290)
            let result = try await segue("send", "event.LaunchFinished", "--platform", "ios", "--device", device)
            #expect(result.status == 65 && result.output.isEmpty)
            #expect(result.error == "segue: the attribute 'device' of event.LaunchFinished exceeds 255 bytes\n")
        }
    }

    @Test(
        "'segue get' prints a document as it was published, its keys, or the documents that exist",
        .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func get(engine: BusEngine) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            for key in ["mac", "ios"] {
                try await segue("send", "document.NavigationState", #"{"z": 1.0, "a": ["\#(key)"]}"#, "--key", key)
            }
            try await segue("send", "document.Devices", #"{"devices": []}"#, "--session", "alice")
            #expect(
                try await segue("get", "NavigationState", "ios", "--json").output == "{\"z\":1.0,\"a\":[\"ios\"]}\n")
            #expect(try await segue("get", "NavigationState").lines == ["ios", "mac"])
            #expect(try await segue("get", "NavigationState", "ios", "--field", "data.a").output == "[\"ios\"]\n")
            #expect(try await segue("get", "NavigationState", "--field", "key", "--field", "data.z").lines.count == 2)
            #expect(try await segue("get", "NavigationState", "ios", "--field", "data.[").status == 64)
            #expect(try await segue("get", "NavigationState", "--json").lines.count == 2)
            #expect(
                try await segue("get", "Devices", "--session", "alice").output == "{\n  \"devices\" : []\n}\n")

            let noKey = try await segue("get", "NavigationState", "tv")
            #expect(noKey.status == 1)
            #expect(
                noKey.error == "segue: there is no document NavigationState with key 'tv'; its keys are ios, mac\n")
            let misspelt = try await segue("get", "NavigationStat")
            #expect(misspelt.error == "segue: there is no document NavigationStat; did you mean NavigationState?\n")
        }
    }

    @Test(
        "'segue services' lists the processes on the bus, and 'segue send' reports a message without receivers",
        .timeLimit(.minutes(1)),
        arguments: BusEngine.allCases)
    func services(engine: BusEngine) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            #expect(
                try await segue("services").error == "segue: no process has announced itself on this bus\n")
            let presence = """
                {"name":"music-service","version":"1.2","instance":"ab","pid":7,\
                "receives":["command.PlaylistSelected"],"sends":[]}
                """
            try await segue("send", "document.Presence", presence, "--key", "ab")
            try await segue("send", "document.Presence", "{}", "--key", "stranger")
            @Sendable func text(_ handled: String, _ failed: String, _ lag: String) -> String {
                """
                music-service 1.2 (instance ab, pid 7)
                  receives command.PlaylistSelected
                  sends    nothing
                  handled  \(handled), failed \(failed), lag \(lag)

                """
            }
            try await segue.whileReporting(.init(instance: "ab", handled: 12, failed: 1, lag: 10_000)) {
                let services = try await segue("services")
                #expect(services.output == text("12", "1", "10000+"))
                #expect(services.error.contains("document.Presence") && services.errorLines.count == 1)
                let json = try await segue("services", "--json")
                #expect(json.lines.count == 1)
                for figure in [#""handled":12"#, #""failed":1"#, #""lag":10000"#] {
                    #expect(json.output.contains(figure))
                }
            }
            // Nobody answers now.
            #expect(try await segue("services").output == text("–", "–", "–"))
            let json = try await segue("services", "--json")
            for figure in [#""handled":null"#, #""failed":null"#, #""lag":null"#] {
                #expect(json.output.contains(figure))
            }

            let misspelt = try await segue("send", "command.PlaylistSelectd")
            #expect(misspelt.status == 65)
            #expect(misspelt.error.contains("did you mean command.PlaylistSelected?"))
            #expect(try await segue("send", "command.PlaylistSelected").error.isEmpty)
        }
    }

    @Test("'segue send' waits for results no longer than the given time", .timeLimit(.minutes(1)))
    func noOutcome() async throws {
        try await SegueCommandLine.onBus { segue in
            let sending = ["send", "event.LaunchFinished", "--await", "event.Nothing", "--timeout"]
            let given = try await segue.run(sending + ["0.1"])
            #expect(given.status == 75 && given.output.isEmpty, "\(given.output)")
            #expect(
                given.errorLines.last == "segue: event.LaunchFinished caused no event.Nothing within 0.1 s; "
                    + "see 'segue services' for the process that handles it")
            for time in ["0", "inf", "1e300", "soon"] {
                let refused = try await segue.run(sending + [time])
                #expect(refused.status == 64 && refused.errorLines.count == 1, "\(refused.error)")
            }
        }
    }

    @Test("A verb ends without an error when its reader has ended", .timeLimit(.minutes(1)))
    func brokenPipe() async throws {
        try await SegueCommandLine.onBus { segue in
            for _ in 0..<3 { try await segue("send", "event.LaunchFinished") }
            let result = try await segue.shell("set -o pipefail; segue monitor --since beginning | head -c 1 | wc -c")
            #expect(result.error.isEmpty)
            #expect(result.output == "1\n")
        }
    }

    @Test(
        "A verb ends when its reader has ended, even if it has nothing to write", .timeLimit(.minutes(1)),
        arguments: ["monitor", "trace --follow", "top --interval 1h"])
    func noReader(command: String) async throws {
        try await SegueCommandLine.onBus { segue in
            let result = try await segue.shell("set -o pipefail; segue \(command) | true")
            #expect(result.status == 0, "\(result.error)")
        }
    }

    @Test("A verb that cannot write its output reports it in one line", .timeLimit(.minutes(1)))
    func fullDisk() async throws {
        try await SegueCommandLine.onBus { segue in
            try await segue("send", "event.LaunchFinished")
            let verbs = [
                "monitor --since beginning --count 1", "--help", "up --help", "--version", "config",
                "--generate-completion-script zsh",
            ]
            for verb in verbs {
                let result = try await segue.shell("segue \(verb) > /dev/full")
                #expect(
                    result.error == "segue: standard output cannot be written: No space left on device\n"
                        && result.status == 74, "\(verb)")
            }
            for program in ["broker --help", "error-notifier --contract"] {
                let result = try await segue.shell("\(program) > /dev/full")
                #expect(result.status == 74 && result.errorLines.count == 1, "\(program): \(result.error)")
            }
        }
    }

    @Test(
        "A verb ends by a signal even if its output is not read", .timeLimit(.minutes(1)),
        arguments: [("monitor --stats --interval 10ms > full", 143), ("record full --force", 74)])
    func fullPipe(command: String, status: Int) async throws {
        try await SegueCommandLine.onBus { segue in
            let result = try await segue.shell(
                """
                mkfifo full; exec 3<> full; head -c 65536 /dev/zero >&3
                segue \(command) 3>&- & pid=$!
                # Before it takes note of signals, one would end it at once.
                until [ $((0x$(grep SigCgt /proc/$pid/status | cut -f2) & 0x4000)) -ne 0 ]; do :; done
                until readlink /proc/$pid/fd/* | grep -q full; do :; done
                kill -TERM $pid; wait $pid; echo status $?
                """)
            #expect(result.lines == ["status \(status)"], "\(result.error)")
        }
    }

    private struct Seen: Decodable {
        let id: String
        let platform: String?
        let time: String
        let expirytime: String?
        let data: [String: String]
        let position: Receipt.JournalPosition
    }
}
