import Foundation

/// The W3C Trace Context of OpenTelemetry for Python, which the tests compare with this project's.
enum OpenTelemetry {
    /// One `traceparent` as OpenTelemetry reads it.
    struct Span: Codable, Hashable {
        let trace: String
        let span: String
        let isSampled: Bool
    }

    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let python = repository.appending(path: ".build/venv/bin/python")
    /// `make test` installs it, if pip can.
    static let isInstalled = FileManager.default.isExecutableFile(atPath: python.path)

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

    /// - Returns: for each text, nil if OpenTelemetry begins a new trace instead.
    static func read(_ texts: [String]) throws -> [Span?] {
        let process = Process()
        process.executableURL = python
        process.arguments = ["-c", reader]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(texts))
        try input.fileHandleForWriting.close()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return try JSONDecoder().decode([Span?].self, from: printed)
    }
}
