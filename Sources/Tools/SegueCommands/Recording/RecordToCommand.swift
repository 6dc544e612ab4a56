package import ArgumentParser
internal import EventBus
internal import Monitor

package struct RecordToCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "to", abstract: "Writes the messages of the bus to a file.",
        discussion: """
            segue record story.jsonl                     from now on, until Ctrl-C
            segue record all.jsonl --since beginning --until now
            segue record taps.jsonl --type 'command.*' --count 20

            The 'to' may be left out, unless the file is called so, or info: then say ./info.
            """)

    @Argument(help: "The file. One that exists is kept, unless --force is given.")
    var file: String

    @OptionGroup var options: BusOptions

    @Option(name: .customLong("kind"), help: "Only messages of this kind; may be repeated.")
    var kinds: [MessageKind] = []

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp("Only these types, as in 'event.Playlist*'; may be repeated.", valueName: "pattern"))
    var types: [MessagePattern] = []

    @Option(help: "Only messages of this session.")
    var subject: String?

    @Option(
        help: ArgumentHelp(
            "now, beginning, retained (the last of each document), an offset, or how long ago as in 5m.",
            valueName: "start"))
    var since = MonitorStart.now

    @Option(
        help: ArgumentHelp(
            "now (what the journal has already), an offset, or for how long as in 30s. (default: Ctrl-C)",
            valueName: "end"))
    var until: JournalEnd?

    @Option(help: "End after so many messages.")
    var count: Int?

    @Flag(help: "Overwrite the file.")
    var force = false

    package init() {}

    package func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is \(count); it has to be 1 or more") }
        if since == .now, until == .now { throw ValidationError("between now and now there is nothing; see --since") }
    }

    package func run() async throws {
        let selection = MessageSelection(kinds: kinds, types: types, subject: subject)
        let (since, until, count) = (since, until, count)
        // A bus that is not there is no reason to overwrite a file: it is made once there is something to read.
        let target = RecordingWriter(path: file, overwrites: force)
        try await Interruption.stopping {
            try await options.withBus { bus in
                try await target.begin(RecordingHeader(since: since, selection))
                try await Recorder(bus: bus, selection: selection, start: since, end: until, count: count)
                    .run { try await target.write($0) }
            }
        }
        guard let written = try await target.end() else { return }
        await Console.error.tell("\(written) \(written == 1 ? "message" : "messages") recorded in \(file)")
    }
}
