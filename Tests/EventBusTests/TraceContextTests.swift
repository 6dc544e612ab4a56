import Foundation
import TestSupport
import Testing

@testable import EventBus

@Suite("The trace of a story")
struct TraceContextTests {
    static let type = MessageType(kind: .event, name: "Opened")
    static let first = Attributes(type: type, source: "shop/1")

    /// The strings of the W3C specification's own tests:
    /// https://github.com/w3c/trace-context/blob/main/test/test.py.
    static let readable = [
        "00-12345678901234567890123456789012-1234567890123456-01",
        "00-12345678901234567890123456789012-1234567890123456-00",
        "cc-12345678901234567890123456789012-1234567890123456-01",
        "cc-12345678901234567890123456789012-1234567890123456-01-what-the-future-will-be-like",
    ]
    static let unreadable = [
        "", "00-1-2-01",
        "00-12345678901234567890123456789012-1234567890123456-01.",
        "00-12345678901234567890123456789012-1234567890123456-01-what-the-future-will-be-like",
        "cc-12345678901234567890123456789012-1234567890123456-01.what-the-future-will-be-like",
        "ff-12345678901234567890123456789012-1234567890123456-01",
        ".0-12345678901234567890123456789012-1234567890123456-01",
        "0.-12345678901234567890123456789012-1234567890123456-01",
        "000-12345678901234567890123456789012-1234567890123456-01",
        "0000-12345678901234567890123456789012-1234567890123456-01",
        "0-12345678901234567890123456789012-1234567890123456-01",
        "00-00000000000000000000000000000000-1234567890123456-01",
        "00-.2345678901234567890123456789012-1234567890123456-01",
        "00-1234567890123456789012345678901.-1234567890123456-01",
        "00-123456789012345678901234567890123-1234567890123456-01",
        "00-1234567890123456789012345678901-1234567890123456-01",
        "00-12345678901234567890123456789012-0000000000000000-01",
        "00-12345678901234567890123456789012-.234567890123456-01",
        "00-12345678901234567890123456789012-123456789012345.-01",
        "00-12345678901234567890123456789012-12345678901234567-01",
        "00-12345678901234567890123456789012-123456789012345-01",
        "00-12345678901234567890123456789012-1234567890123456-.0",
        "00-12345678901234567890123456789012-1234567890123456-0.",
        "00-12345678901234567890123456789012-1234567890123456-001",
        "00-12345678901234567890123456789012-1234567890123456-1",
        "00-1234567890123456789012345678901A-1234567890123456-01",
    ]

    private static func context(of attributes: Attributes) throws -> TraceContext {
        try #require(attributes.traceparent.flatMap(TraceContext.init(parsing:)))
    }

    @Test("A story has one trace, and each of its messages has its own span")
    func following() throws {
        let second = Attributes(type: Self.type, source: "shop/1", causedBy: Self.first)
        let third = try Envelope(Opened(), source: "shop/2", causedBy: Envelope(attributes: second, data: Data()))
        let contexts = try [Self.first, second, third.attributes].map(Self.context)
        #expect(Set(contexts.map(\.traceID)).count == 1)
        #expect(Set(contexts).count == 3)
        #expect(contexts.map(\.text) == [Self.first, second, third.attributes].map(\.traceparent))
        let stranger = Attributes(type: Self.type, source: "shop/1")
        #expect(try Self.context(of: stranger).traceID != contexts[0].traceID)
    }

    @Test("Two stories never share a trace, and two spans never share an id")
    func uniqueness() {
        let contexts = (0..<10_000).map { _ in TraceContext() }
        #expect(Set(contexts.map(\.traceID)).count == 10_000)
        #expect(Set(contexts.map(\.next) + contexts).count == 20_000)
    }

    @Test("A trace continues after a readable traceparent", arguments: readable)
    func reading(_ text: String) throws {
        var cause = Self.first
        cause.traceparent = text
        let next = try #require(Attributes(type: Self.type, source: "shop/1", causedBy: cause).traceparent)
        #expect(next.hasPrefix("00-12345678901234567890123456789012-"))
        #expect(next.hasSuffix("-01"))
        #expect(TraceContext(parsing: text)?.text.contains("-1234567890123456-") == true)
        #expect(!next.contains("-1234567890123456-"))
    }

    @Test(
        "A message whose cause has no readable traceparent gets a trace that is derived from its story",
        arguments: unreadable + [nil])
    func beginning(_ text: String?) throws {
        #expect(text.flatMap(TraceContext.init(parsing:)) == nil)
        var cause = Self.first
        cause.traceparent = text
        let results = try (1...2).map { number in
            try Self.context(of: Attributes(type: Self.type, source: "shop/\(number)", causedBy: cause))
        }
        #expect(results[0].traceID == results[1].traceID)
        #expect(results[0] != results[1])
        #expect(results[0].traceID != TraceContext(story: "another").traceID)
    }

    @Test(
        "OpenTelemetry reads the same trace and spans",
        .enabled(if: OpenTelemetry.isInstalled, "scripts/python, which make test runs, installs it"))
    func openTelemetry() async throws {
        let second = Attributes(type: Self.type, source: "shop/1", causedBy: Self.first)
        let texts = [Self.first, second].compactMap(\.traceparent)
        let spans = try await OpenTelemetry.read(texts).map { try #require($0) }
        #expect(spans.map(\.trace) == texts.compactMap { TraceContext(parsing: $0)?.traceID })
        #expect(spans[0].trace == spans[1].trace)
        #expect(spans[0].span != spans[1].span)
        #expect(spans.map(\.isSampled) == [true, true])

        let read = try await OpenTelemetry.read(Self.readable + Self.unreadable)
        for (text, span) in zip(Self.readable + Self.unreadable, read) {
            let own = TraceContext(parsing: text)
            #expect(own?.traceID == span?.trace, "\(text)")
            #expect(own.map { $0.text.contains(span?.span ?? "-") } ?? true, "\(text)")
        }
    }
}

private struct Opened: EventMessage {}

/// The W3C Trace Context implementation of OpenTelemetry for Python. The tests compare it with that of this project.
enum OpenTelemetry {
    /// A `traceparent` as OpenTelemetry parses it.
    struct Span: Codable, Hashable {
        let trace: String
        let span: String
        let isSampled: Bool
    }

    private static let python = Repository.path(".build/venv/bin/python")
    /// True if OpenTelemetry is installed. `make test` installs it if pip can.
    static let isInstalled = FileManager.default.isExecutableFile(atPath: python)

    private static let reader = """
        import json, sys
        from opentelemetry.trace import get_current_span
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        def span(text):
            context = get_current_span(TraceContextTextMapPropagator().extract({"traceparent": text})).get_span_context()
            return {
                "trace": format(context.trace_id, "032x"), "span": format(context.span_id, "016x"),
                "isSampled": context.trace_flags.sampled,
            } if context.is_valid else None
        print(json.dumps([span(text) for text in json.load(sys.stdin)]))
        """

    /// Parses strings with OpenTelemetry.
    /// - Returns: An element for each string; nil if OpenTelemetry begins a new trace instead.
    static func read(_ texts: [String]) async throws -> [Span?] {
        let input = String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
        let printed = try await TestProgram(python, ["-c", reader]).output(input: input)
        return try JSONDecoder().decode([Span?].self, from: Data(printed.utf8))
    }
}
