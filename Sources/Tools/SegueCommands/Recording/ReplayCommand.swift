package import ArgumentParser
internal import EventBus
internal import Foundation
internal import Monitor

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
