package import ArgumentParser
internal import EventBus
internal import Monitor

package struct RecordToCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
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

    package init() {}

    package func run() async throws {
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
