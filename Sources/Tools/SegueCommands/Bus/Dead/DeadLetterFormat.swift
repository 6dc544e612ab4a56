internal import EventBus
internal import Foundation
internal import Monitor

/// Dead letters for people and for programs.
enum DeadLetterFormat {
    private struct Summary: Encodable {
        let id: DeadLetter.ID
        let consumer: String
        let code: String
        let reason: String
        let attempts: Int
        let time: String
    }

    static func table(_ letters: [DeadLetter]) -> Table {
        var table = Table("ID", "TIME", "CONSUMER", "MESSAGE", "ATTEMPTS", "REASON")
        for letter in letters {
            table.append(
                "\(letter.id)", Timestamp.text(of: letter.time), letter.consumer.printable,
                "\(letter.message.type)", "\(letter.rejection.attempts)", letter.rejection.reason.printable)
        }
        return table
    }

    /// Why it was given up, its attributes, and its data.
    static func details(_ letter: DeadLetter) throws -> [String] {
        let attempts = letter.rejection.attempts == 1 ? "1 attempt" : "\(letter.rejection.attempts) attempts"
        let message = PrettyFormat()
        let attributes = letter.message.attributes
        let published = "    published: \(Timestamp.text(of: attributes.time)) by \(attributes.source.printable)"
        return [
            "\(letter.message.type) was given up by \(letter.consumer.printable) after \(attempts)",
            "    code: \(letter.rejection.code.printable)",
            "    reason: \(letter.rejection.reason.printable)",
            "    given up: \(Timestamp.text(of: letter.time))",
        ] + (letter.message.unreadableHeader == nil ? [published] : [])
            + message.details(letter.message).map { $0.rendered(isColored: false, columns: nil) }
            + [try DataPrinter(json: false).text(letter.message.data)]
    }

    /// One line: what the consumer says, and the message as `segue monitor --json` shows it.
    static func json(_ letter: DeadLetter) throws -> String {
        let summary = try JSONLine.text(
            Summary(
                id: letter.id, consumer: letter.consumer, code: letter.rejection.code, reason: letter.rejection.reason,
                attempts: letter.rejection.attempts, time: Timestamp.text(of: letter.time)))
        return "\(summary.dropLast()),\"message\":\(try CloudEventFormat.line(letter.message))}"
    }
}
