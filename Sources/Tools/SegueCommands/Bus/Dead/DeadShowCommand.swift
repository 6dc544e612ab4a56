package import ArgumentParser
internal import EventBus

package struct DeadShowCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Prints a message that a consumer has given up, and why it has.")

    @OptionGroup var options: BusOptions

    @Argument(help: ArgumentHelp("Its number in 'segue dead list'.", valueName: "id"))
    var id: DeadLetter.ID

    @Flag(help: "One JSON object on one line.")
    var json = false

    package init() {}

    package func run() async throws {
        let selection = LetterSelection.ids([id])
        let letters = try await options.withBus { try await selection.letters(on: $0) }
        for letter in letters {
            let lines = json ? [try DeadLetterFormat.json(letter)] : try DeadLetterFormat.details(letter)
            for line in lines { try await Console.output.writeLine(line) }
        }
    }
}
