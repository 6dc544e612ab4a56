package import ArgumentParser
internal import Dispatch
internal import EventBus
internal import Foundation
package import Monitor
internal import Support

package struct ReplayCommand: AsyncParsableCommand, WallTimeCommand {
    package static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Send the messages of a recording to a bus again.",
        discussion: """
            segue replay story.jsonl                  at the recorded speed
            segue replay story.jsonl --speed max      as fast as the coordinators answer
            segue replay story.jsonl --step --from 1m one message for each Enter
            segue replay story.jsonl --only 'command.*' --dry-run
            segue replay story.jsonl --new-ids --remap subject:default=test
            zcat story.jsonl.gz | segue replay -

            By default, messages that coordinators and the error notifier published as results of others are not \
            sent. The sent messages keep their ids and times. The lifetime of commands begins again.

            The exit status is 65 if the recording is invalid, and 66 if it cannot be read.
            """)

    @Argument(help: "The recording; '-' reads it from standard input.")
    var file: String

    @OptionGroup var options: BusOptions
    @OptionGroup var story: ReplayOptions
    @OptionGroup var zone: ZoneOptions

    @Option(
        help: ArgumentHelp(
            "The speed relative to the recording, such as 0.5 or 2, or max. (default: 1)", valueName: "factor"),
        transform: ReplayPace.argument)
    var speed: ReplayPace?

    @Flag(help: "Print each message, and wait for Enter before sending it.")
    var step = false

    @Flag(help: "Send nothing; print the messages that would be sent. No bus is needed.")
    var dryRun = false

    package init() {}

    package func validate() throws {
        let paces = [("--step", step), ("--dry-run", dryRun), ("--speed", speed != nil)].filter(\.1).map(\.0)
        guard paces.count < 2 else { throw ValidationError("\(paces[0]) and \(paces[1]) exclude each other") }
        guard !step || file != "-" else {
            throw ValidationError("--step reads Enter from standard input, which is the recording here; name a file")
        }
    }

    package func run() async throws {
        let recording = try await Recording(argument: file)
        let plan = story.plan
        let survey = try await ReplaySurvey(of: recording, plan)
        if let line = survey.cutOffLine {
            await Console.error.tell("\(recording.name):\(line): the recording was cut off in this line")
        }
        if dryRun { return try await show(recording, plan: plan, survey: survey) }
        let teller = ReplayTeller(total: survey.count, waitsForEnter: step, printer: ReplayPrinter(names: survey.names))
        let pace = step ? ReplayPace.stepwise : speed ?? .speed(1)
        let signal = try await Interruption.stopping {
            try await options.withBus { bus in
                let replayer = Replayer(bus: bus, recording: recording, plan: plan, survey: survey, pace: pace)
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
                "\(left) \(left == 1 ? "message was" : "messages were") not sent, because standard input ended",
                recovery: "press Enter for each message, or use --speed max")
        }
    }

    private func show(_ recording: Recording, plan: ReplayPlan, survey: ReplaySurvey) async throws {
        var printer = ReplayPrinter(names: survey.names)
        try await plan.forEachStep(of: recording, survey) { recorded, step in
            guard case .send(let message) = step else { return }
            try await Console.output.draw(printer.line(recorded, message) + "\n")
        }
    }
}

/// The options that select and change the messages to replay.
struct ReplayOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp("Start at this moment: \(RecordingMoment.forms).", valueName: "moment"),
        transform: RecordingMoment.argument)
    var from: RecordingMoment?

    @Option(
        help: ArgumentHelp("End after this moment; in the same forms as --from.", valueName: "moment"),
        transform: RecordingMoment.argument)
    var until: RecordingMoment?

    @Option(
        help: ArgumentHelp(
            "Send only these messages: inputs, or all (also the results of coordinators and the error notifier). "
                + "A type such as 'command.*' selects among them. May be repeated. (default: inputs)",
            valueName: "what"),
        transform: ReplayPart.argument)
    var only: [ReplayPart] = []

    @Option(
        help: ArgumentHelp(
            "Replace values of subject, platform, device or type, such as subject:default=test,platform:ios=tv.",
            valueName: "changes"),
        transform: Remapping.argument)
    var remap: Remapping?

    @Flag(help: "Send the messages with the present time, and with a new prefix before each id.")
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

/// A value of `--only`.
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

    /// - Parameter argument: changes, such as `subject:default=test,platform:ios=tv`.
    package init?(argument: String) {
        let changes = argument.split(scalar: ",").map { Change($0) }
        guard !changes.isEmpty, changes.allSatisfy({ $0 != nil }) else { return nil }
        self.init(changes.compactMap(\.self))
    }
}

/// Reports the progress of a replay to a person. With `--step`, waits for Enter before each message.
actor ReplayTeller {
    private let total: Int
    private let waitsForEnter: Bool
    private var printer: ReplayPrinter
    private let start = ContinuousClock.now
    private var sent = 0
    /// The time at which the progress was last displayed. Nil if it was never displayed.
    private var shown: ContinuousClock.Instant?
    private var isStopped = false

    init(total: Int, waitsForEnter: Bool, printer: ReplayPrinter) {
        self.total = total
        self.printer = printer
        self.waitsForEnter = waitsForEnter
    }

    /// Thrown if standard input ends, or the task is cancelled, while ``tell(_:)`` waits for Enter.
    struct Stopped: Error {}

    /// Reports an event of the replay.
    /// - Throws: ``Stopped`` if standard input ends, or the task is cancelled, before the user presses Enter.
    func tell(_ occurrence: Replayer.Occurrence) async throws {
        switch occurrence {
        case .next(let recorded, let message):
            guard waitsForEnter else { return }
            try await Console.output.draw(printer.line(recorded, message) + "\n")
            guard await EnterKey.wait() else {
                isStopped = true
                throw Stopped()
            }
        case .sent(let count):
            sent = count
            await showProgress()
        case .unanswered(let id):
            await Console.error.tell(
                "the recorded message \(id) was not published again, so later messages may be in another "
                    + "order; see 'segue services' for the coordinators that run")
        }
    }

    /// The number of messages that were not sent because the replay was stopped. Nil if it was not stopped.
    var left: Int? { isStopped ? total - sent : nil }

    func end() async {
        if shown != nil { try? await Console.error.draw(TerminalCode.beginLine) }
        let seconds = ((ContinuousClock.now - start) / .seconds(0.1)).rounded() / 10
        await Console.error.tell("\(sent) of \(total) messages sent in \(seconds) s")
    }

    /// Updates one line of the terminal, at most five times per second.
    private func showProgress() async {
        let isDue = shown.map { ContinuousClock.now - $0 > .milliseconds(200) } ?? true
        guard Console.error.isTerminal, !waitsForEnter, isDue else { return }
        shown = .now
        try? await Console.error.draw("\(TerminalCode.beginLine)\(sent) of \(total) messages")
    }
}

/// Formats recorded messages for people: the message's number, then the line of `segue monitor`. On a terminal it is that
/// of what happened, if the message tells something.
struct ReplayPrinter: Sendable {
    let names: CoordinatorNames
    private let pretty = PrettyFormat()
    private let output = Console.output
    private var happenings = Happenings()
    private var format = HappeningFormat()

    init(names: CoordinatorNames) {
        self.names = names
    }

    mutating func line(_ recorded: RecordedMessage, _ message: Envelope) -> TerminalText {
        let number = "\(recorded.number). "
        let columns = output.columns.map { max(1, $0 - number.count) }
        let gap = String(repeating: " ", count: number.count)
        return lines(message, columns).enumerated().map { index, line -> TerminalText in
            let start: TerminalText = index == 0 ? "\(number)" : "\n\(gap)"
            return start + line.rendered(isColored: output.isColored, columns: columns)
        }.joined()
    }

    private mutating func lines(_ message: Envelope, _ columns: Int?) -> [StyledText] {
        guard output.isTerminal else { return [pretty.line(message, names)] }
        // Each message has a line of its own, so none joins the one before.
        _ = happenings.handle(message)
        guard let happening = happenings.flush() else { return [pretty.line(message, names)] }
        return format.lines(happening, columns: columns)
    }
}

/// Waits for the Enter key on standard input.
enum EnterKey {
    private static let queue = DispatchQueue(label: "enter-key")

    /// Reads a line on a dispatch queue of its own. The read cannot be interrupted: it continues after a cancellation
    /// of the task.
    /// - Returns: false if standard input has ended or the task is cancelled.
    static func wait() async -> Bool {
        let (answers, continuation) = AsyncStream.makeStream(of: Bool.self)
        queue.async {
            continuation.yield(readLine() != nil)
            continuation.finish()
        }
        return await answers.first { _ in true } ?? false
    }
}
