package import ArgumentParser
internal import EventBus

package struct DeadResendCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "resend", abstract: "Sends messages again, each to the consumer that has given it up.",
        discussion: """
            Other consumers do not handle it a second time. It gets a new id and, if it is a command, a new lifetime. It \
            prints the letter's number, the new id and its position in the journal.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var letters: LetterArguments

    @Flag(help: "One JSON object a line.")
    var json = false

    package init() {}

    package func run() async throws {
        let (selection, json) = (letters.selection, json)
        try await options.withBus { bus in
            for letter in try await selection.letters(on: bus) {
                let message = try await letter.resend(on: bus)
                guard let position = message.position else { continue }
                let sent = SentMessage(message, at: position)
                try await Console.output.writeLine(
                    json ? JSONLine.text(sent) : "\(letter.id) \(message.id) \(position)")
            }
        }
    }
}
