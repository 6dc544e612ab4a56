package import ArgumentParser
internal import Dispatch
internal import EventBus
internal import Foundation
package import Monitor

package struct ReplayCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Tells a recorded story to the processes of a bus.",
        discussion: """
            segue replay story.jsonl                  at the pace it had
            segue replay story.jsonl --speed max      as fast as those who answer
            segue replay story.jsonl --step --from 1m a message for each Enter
            segue replay story.jsonl --only 'command.*' --dry-run
            segue replay story.jsonl --new-ids --remap subject:default=test
            zcat story.jsonl.gz | segue replay -

            Sent is what came from outside of navigation. What coordinators and the
            error notifier said of it, those of the bus say again. Ids and times are
            the recorded ones, so that coordinators that begin anew reach the same
            states; only the expiry of commands is counted from now.
            """)

    @Argument(help: "The recording; - reads it from standard input.")
    var file: String

    @OptionGroup var options: BusOptions
    @OptionGroup var story: ReplayOptions

    @Option(
        help: ArgumentHelp("How many times as fast, or max. (default: 1)", valueName: "factor"),
        transform: ReplayPace.argument)
    var speed: ReplayPace?

    @Flag(help: "Show each message, and wait for Enter before it is sent.")
    var step = false

    @Flag(help: "Show what would be sent; no bus is needed.")
    var dryRun = false

    package init() {}

    package func validate() throws {
        let paces = [("--step", step), ("--dry-run", dryRun), ("--speed", speed != nil)].filter(\.1).map(\.0)
        guard paces.count < 2 else { throw ValidationError("\(paces[0]) and \(paces[1]) exclude each other") }
        guard !step || file != "-" else {
            throw ValidationError("--step waits for Enter on standard input, which is the recording; name a file")
        }
    }

    package func run() async throws {
        let recording = try await Recording(argument: file)
        let plan = story.plan
        let survey = try await ReplaySurvey(of: recording, plan)
        if let line = survey.cutOffLine {
            await Console.error.tell("\(recording.name):\(line): the recording was cut off amid this line")
        }
        if dryRun { return try await show(recording, plan, survey) }
        let teller = ReplayTeller(total: survey.count, waitsForEnter: step)
        let pace = step ? ReplayPace.stepwise : speed ?? .speed(1)
        let signal = try await Interruption.stopping {
            try await options.withBus { bus in
                let replayer = Replayer(bus: bus, recording, plan, survey, pace: pace)
                do {
                    try await replayer.run { try await teller.tell($0) }
                } catch is ReplayTeller.Stopped {}
            }
        }
        await teller.end()
        if let signal { throw ExitCode(128 + signal) }
        if let left = await teller.left {
            throw CommandError(
                code: "replay.stopped",
                "\(left) \(left == 1 ? "message was" : "messages were") not sent: standard input ended before",
                recovery: "give a line for each, or use --speed max")
        }
    }

    private func show(_ recording: Recording, _ plan: ReplayPlan, _ survey: ReplaySurvey) async throws {
        let printer = ReplayPrinter()
        try await plan.forEachStep(of: recording, survey) { recorded, step in
            guard case .send(let message) = step else { return }
            try await Console.output.writeLine(printer.line(recorded, message))
        }
    }
}

/// What of a recording is told again, and how it is changed.
struct ReplayOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp("Begin at this moment: \(RecordingMoment.forms).", valueName: "moment"),
        transform: RecordingMoment.argument)
    var from: RecordingMoment?

    @Option(
        help: ArgumentHelp("End at this moment, with what stands there; as --from.", valueName: "moment"),
        transform: RecordingMoment.argument)
    var until: RecordingMoment?

    @Option(
        help: ArgumentHelp(
            "inputs (what coordinators and the error notifier said is left to them), all, or types, as in 'command.*'; may be repeated. (default: inputs)",
            valueName: "what"), transform: ReplayPart.argument)
    var only: [ReplayPart] = []

    @Option(
        help: ArgumentHelp(
            "Changes, as in subject:default=test,platform:ios=tv; also device and type.", valueName: "changes"),
        transform: Remapping.argument)
    var remap: Remapping?

    @Flag(help: "Under new ids, the old ones behind a prefix, and at the time of now: a story beside the recorded one.")
    var newIds = false

    var plan: ReplayPlan {
        var plan = ReplayPlan()
        plan.stretch = RecordingStretch(from: from, until: until)
        plan.sendsResults = only.contains(.all)
        plan.types = only.compactMap { part in
            guard case .types(let pattern) = part else { return nil }
            return pattern
        }
        plan.remapping = remap ?? Remapping()
        if newIds { plan.identity = .new(prefix: "\(UUID().uuidString.lowercased().prefix(8))~") }
        return plan
    }
}

/// A word of `--only`.
enum ReplayPart: Hashable, Sendable, FormedArgument {
    static let forms = "inputs, all, or types as in 'command.*'"

    case inputs, all
    case types(MessagePattern)

    init?(argument: String) {
        switch argument {
        case "inputs": self = .inputs
        case "all": self = .all
        default:
            guard let pattern = MessagePattern(argument) else { return nil }
            self = .types(pattern)
        }
    }
}

extension ReplayPace: FormedArgument {
    static let forms = "max, or a number above zero as in 0.5"

    package init?(argument: String) {
        if argument == "max" {
            self = .fastest
        } else if let speed = Double(argument), speed > 0, speed.isFinite {
            self = .speed(speed)
        } else {
            return nil
        }
    }
}

extension Remapping: FormedArgument {
    static let forms =
        "changes of subject, platform, device or type, as in subject:default=test,platform:ios=tv"

    /// Changes as in `subject:default=test,platform:ios=tv`.
    package init?(argument: String) {
        let changes = argument.split(separator: ",").map { Change($0) }
        guard !changes.isEmpty, changes.allSatisfy({ $0 != nil }) else { return nil }
        self.init(changes.compactMap(\.self))
    }
}

/// Tells a person how a replay gets on, and asks before each message if that is wanted.
actor ReplayTeller {
    private let total: Int
    private let waitsForEnter: Bool
    private let printer = ReplayPrinter()
    private let start = ContinuousClock.now
    private var sent = 0
    private var shown: ContinuousClock.Instant?
    private var isStopped = false

    init(total: Int, waitsForEnter: Bool) {
        self.total = total
        self.waitsForEnter = waitsForEnter
    }

    /// Nobody wants to go on.
    struct Stopped: Error {}

    /// - Throws: ``Stopped``.
    func tell(_ occurrence: Replayer.Occurrence) async throws {
        switch occurrence {
        case .next(let recorded, let message):
            guard waitsForEnter else { return }
            try await Console.output.write(printer.line(recorded, message) + "\n")
            guard await EnterKey.wait() else {
                isStopped = true
                throw Stopped()
            }
        case .sent(let count):
            sent = count
            await showProgress()
        case .unanswered(let id):
            await Console.error.tell(
                "nobody says \(id.printable), as in the recording: the order of what follows may differ; "
                    + "see 'segue services' for whether the coordinators run")
        }
    }

    /// How many messages nobody wanted to have sent any more; nil when it came to its end.
    var left: Int? { isStopped ? total - sent : nil }

    func end() async {
        if shown != nil { try? await Console.error.write(TerminalCode.beginLine) }
        let seconds = ((ContinuousClock.now - start) / .seconds(0.1)).rounded() / 10
        await Console.error.tell("\(sent) of \(total) messages sent in \(seconds) s")
    }

    /// On one line of a terminal, a few times a second.
    private func showProgress() async {
        let isDue = shown.map { ContinuousClock.now - $0 > .milliseconds(200) } ?? true
        guard Console.error.isTerminal, !waitsForEnter, isDue else { return }
        shown = .now
        try? await Console.error.write("\(TerminalCode.beginLine)\(sent) of \(total) messages")
    }
}

/// Messages of a recording for people: the number, then as a monitor shows them.
struct ReplayPrinter: Sendable {
    private let pretty = PrettyFormat()
    private let output = Console.output

    func line(_ recorded: RecordedMessage, _ message: Envelope) -> String {
        let number = "\(recorded.number). "
        let columns = output.columns.map { max(1, $0 - number.count) }
        return number + pretty.line(message).rendered(isColored: output.isColored, columns: columns)
    }
}

/// A person's Enter, on standard input.
enum EnterKey {
    private static let queue = DispatchQueue(label: "enter-key")

    /// Waits on a thread of its own, which nothing can wake: when the task is cancelled it is left behind.
    /// - Returns: false when there is no input any more, or the task is cancelled.
    static func wait() async -> Bool {
        let (answers, continuation) = AsyncStream.makeStream(of: Bool.self)
        queue.async {
            continuation.yield(readLine() != nil)
            continuation.finish()
        }
        return await answers.first { _ in true } ?? false
    }
}
