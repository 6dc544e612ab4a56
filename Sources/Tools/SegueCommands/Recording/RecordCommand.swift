package import ArgumentParser
internal import EventBus
internal import Foundation
internal import Glibc
internal import Monitor
internal import Navigation
internal import Support
internal import SystemPackage
internal import SystemSupport

package struct RecordCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record the messages of the bus in a file, and describe recordings.",
        discussion: """
            \(examples)
            segue record info story.jsonl

            A recording has one JSON object per line: a header, each message as 'segue monitor --json' prints it, and \
            an end line. 'segue replay' sends the messages to a bus again. 'segue flow run --recording' tests a flow \
            with them. 'segue record to --help' lists the options.
            """,
        subcommands: [RecordToCommand.self, RecordInfoCommand.self], defaultSubcommand: RecordToCommand.self)

    static let examples = """
        segue record story.jsonl                     from now on, until Ctrl-C
        segue record all.jsonl --since beginning --until end
        segue record taps.jsonl --type 'command.*' --count 20
        segue record - --for 1m | gzip > story.jsonl.gz
        """

    package init() {}
}

struct RecordToCommand: AsyncParsableCommand, WallTimeCommand {
    static let configuration = CommandConfiguration(
        commandName: "to", abstract: "Record the messages of the bus in a file.",
        discussion: """
            \(RecordCommand.examples)

            The word 'to' is optional. For a file named 'to' or 'info', write ./to or ./info.

            The exit status is 1 if the file exists already.
            """)

    @Argument(help: "The file to write; '-' writes to standard output. An existing file requires --force.")
    var file: String

    @OptionGroup var options: BusOptions

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var span: MonitorSpanOptions
    @OptionGroup var zone: ZoneOptions

    @Flag(help: "Overwrite an existing file.")
    var force = false

    func run() async throws {
        let (selection, span) = (try selection.selection, span)
        let target = RecordingWriter(path: file, overwrites: force)
        try await Interruption.stopping {
            try await options.withBus { bus in
                // The file is created after the bus has answered, so that a missing bus does not overwrite an existing
                // recording.
                try await target.begin(RecordingHeader(since: span.start, selection))
                try await target.whileRead {
                    try await span.monitor(bus, selection).run {
                        try await target.write($0)
                    } tell: { notice in
                        guard case .lost(let loss) = notice else { return }
                        await target.record(loss)
                        await Console.error.tell("\(notice)")
                    }
                }
            }
        }
        guard let written = try await target.end() else { return }
        let place = file == "-" ? "" : " in \(file)"
        await Console.error.tell("\(written) \(written == 1 ? "message" : "messages") recorded\(place)")
    }
}

/// Writes a recording, line by line, as messages arrive.
actor RecordingWriter {
    private let path: String
    private let overwrites: Bool
    private let isOutput: Bool
    /// The open file. Nil before ``begin(_:)`` and after ``end()``.
    private var file: Console?
    private var count = 0
    /// The types of messages that retention removed before they were recorded, each with the offset of such a message.
    private var missing: [String: UInt64] = [:]

    /// - Parameter path: the path of the file; `-` for standard output.
    init(path: String, overwrites: Bool) {
        self.path = path
        isOutput = path == "-"
        self.overwrites = overwrites
    }

    /// Creates the file and writes the header.
    /// - Throws: ``CommandError`` if the file exists and must not be overwritten, or cannot be created.
    func begin(_ header: RecordingHeader) async throws {
        let file = isOutput ? Console.output : Console(try open())
        self.file = file
        try await write(JSONValue(encoding: header).description, to: file)
    }

    /// Runs `body` until it ends. If the recording is written to standard output, also ends when standard output has no
    /// reader any more.
    /// - Throws: `Errno.brokenPipe`; the errors of `body`.
    nonisolated func whileRead(_ body: @escaping @Sendable () async throws -> Void) async throws {
        if isOutput { try await Console.output.whileRead(body) } else { try await body() }
    }

    /// - Throws: ``CommandError`` if the file cannot be written; `Errno` if standard output cannot be written.
    func write(_ message: Envelope) async throws {
        guard let file else { return }
        var line: [UInt8] = []
        try CloudEventFormat().write(message, to: &line)
        try await reportingErrors { [line] in try await file.append(line) }
        count += 1
    }

    /// Records the messages that retention removed, for the end line.
    func record(_ loss: SubscriptionNotice) {
        guard case .removed(let type, let offset) = loss else { return }
        missing[type.description] = max(missing[type.description] ?? 0, offset)
    }

    /// Writes the end line. Then writes the file to the disk and closes it; standard output stays open.
    /// - Returns: the number of recorded messages; nil if ``begin(_:)`` has not created the file.
    func end() async throws -> Int? {
        guard let file else { return nil }
        self.file = nil
        try await write(JSONValue(encoding: RecordingEnd(messages: count, missing: missing)).description, to: file)
        if !isOutput { try await reportingErrors { try await file.closeOnDisk() } }
        return count
    }

    private func open() throws -> FileDescriptor {
        // check-lines: PrivateFile restricts the file below.
        let creation: FileDescriptor.OpenOptions = overwrites ? [.create, .truncate] : [.create, .exclusiveCreate]
        do {
            // With O_NONBLOCK, opening a named pipe without a reader fails instead of blocking.
            let file = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: creation.union([.nonBlocking, .closeOnExec]),
                permissions: .ownerReadWrite)
            // A recording contains what the bus does, so an overwritten file also loses the rights of other users.
            try PrivateFile.restrict(file.rawValue, path)
            _ = fcntl(file.rawValue, F_SETFL, fcntl(file.rawValue, F_GETFL) & ~O_NONBLOCK)
            return file
        } catch Errno.noSuchAddressOrDevice {
            throw CommandError(
                code: "recording.unread", "\(path) is a pipe without a reader", recovery: "start the reader first",
                status: .ioError)
        } catch Errno.fileExists {
            throw CommandError(
                code: "recording.exists", "\(path) exists already", recovery: "name another file, or use --force")
        } catch let error as Errno {
            throw CommandError(code: "recording.unwritable", "\(path) cannot be created: \(error)", status: .ioError)
        } catch let error as SystemError {
            throw CommandError(
                code: "recording.unwritable", "\(path) cannot be made private: \(error.reason)",
                recovery: "name a new file", status: .ioError)
        }
    }

    private func write(_ line: String, to file: Console) async throws {
        try await reportingErrors { try await file.writeLine(line) }
    }

    private func reportingErrors(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as Errno where !isOutput {
            throw CommandError(code: "recording.unwritable", "\(path) cannot be written: \(error)", status: .ioError)
        }
    }
}
