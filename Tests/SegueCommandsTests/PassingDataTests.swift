import CommandLineTestSupport
import EventBus
import Foundation
import Testing

@Suite("Data that pass through segue", .timeLimit(.minutes(1)))
struct PassingDataTests {
    private static let data = #"{"z":12345678901234567890,"n":1.10,"s":"\u0041é","a":1,"a":2,"e":1e2,"m":-0}"#

    private func sent(_ bus: EventBus) async throws -> [Envelope] {
        let end = try await bus.inspect.end()
        return try await bus.withSubscription(to: [.all], from: .beginning, until: end, onNotice: nil) { messages in
            try await messages.reduce(into: []) { if $1.type.name == "Kept" { $0.append($1) } }
        }
    }

    @Test("Numbers, strings, the order of members and duplicate members pass unchanged")
    func kept() async throws {
        try await SegueCommandLine.onBus { segue in
            let shell = try await segue.shell(
                """
                set -eo pipefail
                segue send event.Kept '\(Self.data)'
                echo '\(Self.data)' | segue send event.Kept -
                segue monitor --type event.Kept --since 1 --count 1 --json | segue send --stdin
                segue monitor --type event.Kept --since 1 --count 1 --raw | segue send event.Kept --stdin
                segue record to story.jsonl --type event.Kept --since 1 --until end
                segue replay story.jsonl --speed max
                segue replay story.jsonl --speed max --new-ids
                segue send document.Kept '\(Self.data)'
                """)
            try #require(shell.status == 0, "\(shell.error)")
            let messages = try await segue.withConnection { try await sent($0) }
            #expect(messages.count >= 9)
            #expect(Set(messages.map { String(decoding: $0.data, as: UTF8.self) }) == [Self.data])
            #expect(try await segue("get", "Kept", "--json").output == Self.data + "\n")
            let shown = try await segue("get", "Kept").output
            #expect(shown.contains(#""z" : 12345678901234567890"#) && shown.contains(#""n" : 1.10"#), "\(shown)")
            #expect(try await segue("describe", "event.Kept", "--json").output.contains(#""data":\#(Self.data)}"#))
            let fields = try await segue(
                "monitor", "--type", "event.Kept", "--since", "1", "--count", "1", "--field", "data.z", "--field",
                "data.n",
                "--field", "data.s")
            #expect(fields.output == "12345678901234567890\t1.10\tAé\n")
        }
    }

    @Test("Data that are not JSON pass as Base64, and a withdrawal stays one")
    func bytes() async throws {
        try await SegueCommandLine.onBus { segue in
            let type = MessageType(kind: .event, name: "Kept")
            let bytes = Data([0xFF, 0, 0x1B, 0x5B])
            try await segue.withConnection { bus in
                let message = Envelope(attributes: Attributes(type: type, source: "test/1"), data: bytes)
                _ = try await bus.publish(Batch([message]))
            }
            let shell = try await segue.shell(
                """
                set -eo pipefail
                segue monitor --type event.Kept --since 1 --until end --json | segue send --stdin
                segue send document.Kept '{"a": 1}'
                echo '{"specversion":"1.0","id":"x","source":"s","type":"document.Kept"}' | segue send --stdin
                """)
            try #require(shell.status == 0, "\(shell.error)")
            let messages = try await segue.withConnection { try await sent($0) }
            #expect(messages.map(\.data) == [bytes, bytes, Data(#"{"a":1}"#.utf8), Data()])
            #expect(messages.last?.isTombstone == true)
        }
    }

    @Test("Data that are not UTF-8 are refused with their line, and nothing is replaced")
    func notUTF8() async throws {
        try await SegueCommandLine.onBus { segue in
            let whole = try await segue.shell(#"printf '{"a":\n\n"\377"}' | segue send event.Kept -"#)
            #expect(whole.status == 65)
            #expect(whole.error.hasPrefix("segue: standard input:3: the line is not UTF-8; "), "\(whole.error)")
            let lines = try await segue.shell(
                #"printf '{"a":1}\n{"a":"\377"}\n{"a":3}\n' | segue send event.Kept --stdin"#)
            #expect(lines.status == 65)
            #expect(lines.errorLines.contains("segue: standard input:2: the line is not UTF-8"), "\(lines.error)")
            let argument = try await segue.shell(#"segue send event.Kept "$(printf '{"a":"\377"}')""#)
            #expect(argument.status == 65 && argument.error == "segue: argument 3 is not UTF-8; write it in UTF-8\n")
            let messages = try await segue.withConnection { try await sent($0) }
            #expect(messages.map { String(decoding: $0.data, as: UTF8.self) } == [#"{"a":1}"#, #"{"a":3}"#])
        }
    }
}
