internal import EventBus
internal import Monitor

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
