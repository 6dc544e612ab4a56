import CommandLineTestSupport
import Contracts
import EventBus
import Foundation
import Support
import TestSupport
import Testing

@Suite("'segue ask'", .timeLimit(.minutes(1)))
struct AskVerbTests {
    /// Runs `body` while the test itself answers `query.Salutation`.
    private func serving(
        on engine: BusEngine = .broker,
        _ answer: @escaping @Sendable (Envelope) async throws -> Envelope,
        _ body: @escaping @Sendable (SegueCommandLine) async throws -> Void
    ) async throws {
        let type = try #require(MessageType("query.Salutation"))
        try await SegueCommandLine.onBus(engine) { segue in
            try await segue.withConnection { bus in
                let live = Latch()
                try await withThrowingTaskGroup { group in
                    group.addTask { try await bus.serve([type], whenServing: live.open, answer) }
                    try await live.waitUntilOpen()
                    try await body(segue)
                    group.cancelAll()
                }
            }
        }
    }

    @Test("'segue ask' prints the answer's data, indented or on one line", arguments: BusEngine.allCases)
    func answer(engine: BusEngine) async throws {
        try await serving(on: engine) { query in
            let session = query.subject
            let data = Data(
                #"{ "asked": \#(String(decoding: query.data, as: UTF8.self)), "session": "\#(session)" }"#.utf8)
            return Envelope(attributes: Attributes(type: query.type, source: "test/1"), data: data)
        } _: { segue in
            let json = try await segue(
                "ask", "Salutation", "{ \"name\": \"Ada\" }", "--subject", "alice", "--json")
            #expect(json.output == #"{"asked":{"name":"Ada"},"session":"alice"}"# + "\n", "\(json.error)")
            let plain = try await segue("ask", "query.Salutation", "-", input: "{}")
            #expect(plain.output.hasPrefix("{\n  \"asked\" : {"))
            #expect(plain.status == 0)
        }
    }

    @Test("'segue ask' ends with status 1 and one line when the answer is an error")
    func error() async throws {
        try await serving { query in
            let error = ApplicationError(code: "greeter.nobody", message: "nobody is there", recovery: "knock again")
            return try Envelope(error, source: "test/1", causedBy: query)
        } _: { segue in
            for options in [[], ["--json"]] {
                let result = try await segue.run(["ask", "Salutation"] + options)
                #expect(result.error == "segue: query.Salutation failed: nobody is there; knock again\n")
                #expect(result.status == 1 && result.output.isEmpty)
            }
        }
    }

    @Test("'segue ask' ends with status 1 and one line when the answer is an unknown or unreadable error")
    func strangeError() async throws {
        try await serving { query in
            let isOwn = String(decoding: query.data, as: UTF8.self).contains("true")
            let type = try #require(MessageType(isOwn ? "error.ApplicationError" : "error.OutOfOrder"))
            return Envelope(
                attributes: Attributes(type: type, source: "lift/1", causedBy: query.attributes),
                data: Data(#"{"floor":3}"#.utf8))
        } _: { segue in
            for (data, type) in [(#"{"own":true}"#, "error.ApplicationError"), (#"{"own":false}"#, "error.OutOfOrder")]
            {
                for options in [[], ["--json"]] {
                    let result = try await segue.run(["ask", "Salutation", data] + options)
                    #expect(result.status == 1 && result.output.isEmpty)
                    #expect(
                        result.error
                            == "segue: query.Salutation failed: lift/1 answered with \(type) {\"floor\":3}\n")
                }
            }
        }
    }

    @Test("'segue ask' ends with status 75 when no answer comes in time", arguments: BusEngine.allCases)
    func deadline(engine: BusEngine) async throws {
        try await serving(on: engine) { query in
            try await Latch().waitUntilOpen()
            return query
        } _: { segue in
            let result = try await segue("ask", "Salutation", "--timeout", "200ms")
            #expect(result.status == 75 && result.errorLines.count == 1, "\(result.error)")
        }
    }

    @Test(
        "'segue ask' ends with status 69 when no process serves the query, and 64 when it is not a query",
        arguments: BusEngine.allCases)
    func unserved(engine: BusEngine) async throws {
        try await SegueCommandLine.onBus(engine) { segue in
            let result = try await segue("ask", "Salutation")
            #expect(result.status == 69 && result.errorLines.count == 1)
            #expect(result.error.contains("query.Salutation"))
            let invalid = try await segue("ask", "Salutation", "[]")
            #expect(invalid.status == 65 && invalid.errorLines.count == 1)
            for arguments in [["command.Greet"], ["Salutation", "--timeout", "0s"], []] {
                let result = try await segue.run(["ask"] + arguments)
                #expect(result.status == 64 && result.errorLines.count == 1, "\(arguments) \(result.error)")
            }
        }
    }
}
