internal import EventBus
internal import Monitor

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
        if shown != nil { try? await Console.error.write("\r\u{1B}[K") }
        let seconds = ((ContinuousClock.now - start) / .seconds(0.1)).rounded() / 10
        await Console.error.tell("\(sent) of \(total) messages sent in \(seconds) s")
    }

    /// On one line of a terminal, a few times a second.
    private func showProgress() async {
        let isDue = shown.map { ContinuousClock.now - $0 > .milliseconds(200) } ?? true
        guard Console.error.isTerminal, !waitsForEnter, isDue else { return }
        shown = .now
        try? await Console.error.write("\r\u{1B}[K\(sent) of \(total) messages")
    }
}
