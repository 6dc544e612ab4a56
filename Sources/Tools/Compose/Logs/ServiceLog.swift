import Foundation
import Logging
import SystemPackage

/// Where one service's output goes: its log file, each line after its time, and whoever watches the foreground.
actor ServiceLog {
    private static let tailLength = 20
    private static let tailWidth = 500

    private let service: String
    private let file: FileDescriptor
    private let sink: (@Sendable (LogLine) -> Void)?
    private let logger: Logger
    /// The part of the present line that the sink has not had.
    private var line: [UInt8] = []
    private var lineStart: Date?
    private var hasFailed = false
    /// The last lines, cut to a width that an error can show.
    private(set) var tail: [String] = []

    /// - Throws: ``ComposeError`` `log-file`.
    init(
        service: String,
        path: String,
        logger: Logger,
        sink: (@Sendable (LogLine) -> Void)?
    ) throws(ComposeError) {
        self.service = service
        self.logger = logger
        self.sink = sink
        do {
            file = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.create, .append, .closeOnExec], permissions: [.ownerReadWrite]
            )
        } catch {
            throw ComposeError(code: "log-file", message: "cannot write \(path): \(error)")
        }
    }

    deinit {
        try? file.close()
    }

    /// Takes output as it comes, lines begun and ended anywhere.
    func append(_ bytes: [UInt8]) {
        let now = Date()
        let prefix = Array("\(now.formatted(LogLine.timestampFormat)) ".utf8)
        var written: [UInt8] = []
        written.reserveCapacity(bytes.count + prefix.count)
        var rest = bytes[...]
        while !rest.isEmpty {
            if lineStart == nil {
                lineStart = now
                written += prefix
            }
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            take(rest[..<(end ?? rest.endIndex)])
            written += rest[..<(end.map { $0 + 1 } ?? rest.endIndex)]
            if end != nil { emit(continues: false) }
            rest = end.map { rest[($0 + 1)...] } ?? []
        }
        write(written)
    }

    /// Ends a line that the service left open when it ended.
    func endLine() {
        guard lineStart != nil else { return }
        write([UInt8(ascii: "\n")])
        emit(continues: false)
    }

    private func take(_ part: ArraySlice<UInt8>) {
        var part = part
        while line.count + part.count > LogLine.maximumLength {
            let count = LogLine.maximumLength - line.count
            line += part.prefix(count)
            part = part.dropFirst(count)
            emit(continues: true)
        }
        line += part
    }

    private func emit(continues: Bool) {
        let text = String(decoding: line, as: UTF8.self)
        sink?(LogLine(service: service, timestamp: lineStart ?? Date(), text: text, continues: continues))
        tail.append(String(text.prefix(Self.tailWidth)))
        if tail.count > Self.tailLength { tail.removeFirst() }
        line.removeAll(keepingCapacity: line.capacity <= 65536)
        if !continues { lineStart = nil }
    }

    private func write(_ bytes: [UInt8]) {
        do {
            try file.writeAll(bytes)
        } catch {
            // A full disk must not end the service; say it once, and go on for those who watch.
            guard !hasFailed else { return }
            hasFailed = true
            logger.error("cannot write a log", metadata: ["service": "\(service)", "error": "\(error)"])
        }
    }
}
