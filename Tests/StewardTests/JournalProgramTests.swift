import BusFormat
import EventBus
import Foundation
import NATSLayout
import NATSTestSupport
import TestSupport
import Testing

@Suite("The journal on NATS for other programs", .timeLimit(.minutes(3)))
struct JournalProgramTests {
    @Test func `A Python program without Segue prints the messages of a journal with their offsets`() async throws {
        let program = Repository.path("docs/examples/python/nats_journal.py")
        try await TestJournal.run { journal in
            for count in [1, 3, 2] {
                try await journal.publish((0..<count).map { message(.event, data: #"{"number":\#($0),"é":"ß"}"#) })
            }
            try await journal.publish([message(.document, "State", subject: "a", key: "b", data: "")])
            let output = try await TestProgram(
                "python3", [program, "127.0.0.1", "\(journal.server.port)", "TEST"]
            ).output()
            let printed = output.split(separator: "\n").map { $0.components(separatedBy: "\t") }
            let stored = try await journal.messages(after: 0)
            #expect(stored.count == 7)
            #expect(printed.map { $0[0] } == stored.map { "\($0.position.offset)" })
            #expect(printed.map { $0[1] } == stored.map(\.message.topic))
            #expect(printed.map { $0[2] } == stored.map { String(decoding: $0.message.header, as: UTF8.self) })
            #expect(printed.map { $0[3] } == stored.map { String(decoding: $0.message.data, as: UTF8.self) })
        }
    }
}
