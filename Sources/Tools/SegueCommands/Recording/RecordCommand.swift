package import ArgumentParser
internal import EventBus
internal import Foundation
internal import Glibc
internal import Monitor
internal import Navigation
internal import Support
internal import SystemPackage

package struct RecordCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Writes the messages of the bus to a file, and says what is in such a file.",
        discussion: """
            \(examples)
            segue record info story.jsonl

            One JSON object a line: a header, then each message as
            'segue monitor --json' shows it. 'segue replay' tells such a story to a
            bus, 'segue flow run --recording' to a flow. The options are those of
            'segue record to --help'.
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

struct RecordToCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "to", abstract: "Writes the messages of the bus to a file.",
        discussion: """
            \(RecordCommand.examples)

            The 'to' may be left out, unless the file is called so, or info: then say ./info.
            """)

    @Argument(help: "The file; - is standard output. One that exists is kept, unless --force is given.")
    var file: String

    @OptionGroup var options: BusOptions

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var span: SpanOptions

    @Flag(help: "Overwrite the file.")
    var force = false

    func run() async throws {
        let (selection, span) = (try selection.selection, span)
        let target = RecordingWriter(path: file, overwrites: force)
        try await Interruption.stopping {
            try await options.withBus { bus in
                // A bus that is not there is no reason to overwrite a file: it is made once there is something to read.
                try await target.begin(RecordingHeader(since: span.start, selection))
                try await target.whileRead {
                    try await span.monitor(bus, selection).run {
                        try await target.write($0)
                    } tell: { notice in
                        if case .lost = notice { await Console.error.tell("\(notice)") }
                    }
                }
            }
        }
        guard let written = try await target.end() else { return }
        let place = file == "-" ? "" : " in \(file)"
        await Console.error.tell("\(written) \(written == 1 ? "message" : "messages") recorded\(place)")
    }
}

/// Writes a recording: each message as it comes, in whole lines.
actor RecordingWriter {
    private let path: String
    private let overwrites: Bool
    private let isOutput: Bool
    private var file: Console?
    private var count = 0

    /// - Parameter path: of the file; `-` for standard output.
    init(path: String, overwrites: Bool) {
        self.path = path
        isOutput = path == "-"
        self.overwrites = overwrites
    }

    /// - Throws: ``CommandError`` when the file exists already, or cannot be made.
    func begin(_ header: RecordingHeader) async throws {
        let file = isOutput ? Console.output : Console(try open())
        self.file = file
        try await write(JSONValue(encoding: header).description, to: file)
    }

    /// Runs `body` until it ends, or until nobody reads standard output any more if that is written to.
    /// - Throws: `Errno.brokenPipe`, and what `body` throws.
    nonisolated func whileRead(_ body: @escaping @Sendable () async throws -> Void) async throws {
        if isOutput { try await Console.output.whileRead(body) } else { try await body() }
    }

    /// - Throws: ``CommandError`` when it cannot be written; `Errno` if that is standard output.
    func write(_ message: Envelope) async throws {
        guard let file else { return }
        var line: [UInt8] = []
        try CloudEventFormat().write(message, to: &line)
        try await reportingErrors { [line] in try await file.append(line) }
        count += 1
    }

    /// Closes the file, on the disk and with its last line.
    /// - Returns: how many messages are in it; nil when it was never begun.
    func end() async throws -> Int? {
        guard let file else { return nil }
        self.file = nil
        try await write(JSONValue(encoding: RecordingEnd(messages: count)).description, to: file)
        if !isOutput { try await reportingErrors { try await file.closeOnDisk() } }
        return count
    }

    private func open() throws -> FileDescriptor {
        let creation: FileDescriptor.OpenOptions = overwrites ? [.create, .truncate] : [.create, .exclusiveCreate]
        do {
            // Opened otherwise, a pipe would hold up a thread that tasks share until somebody reads it.
            let file = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: creation.union(.nonBlocking),
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
            _ = fcntl(file.rawValue, F_SETFL, fcntl(file.rawValue, F_GETFL) & ~O_NONBLOCK)
            return file
        } catch Errno.noSuchAddressOrDevice {
            throw CommandError(
                code: "recording.unread", "\(path) is a pipe that nobody reads", recovery: "start its reader first",
                status: .ioError)
        } catch Errno.fileExists {
            throw CommandError(
                code: "recording.exists", "\(path) exists already", recovery: "name another, or use --force")
        } catch let error as Errno {
            throw CommandError(code: "recording.unwritable", "\(path) cannot be made: \(error)", status: .ioError)
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
