package import ArgumentParser
internal import EventBus

package struct DeadDropCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Forgets messages that consumers have given up.")

    @OptionGroup var options: BusOptions
    @OptionGroup var letters: LetterArguments

    package init() {}

    package func run() async throws {
        let selection = letters.selection
        try await options.withBus { bus in
            for letter in try await selection.letters(on: bus) {
                var batch = Batch([])
                batch.settledLetters = [letter.id]
                try await bus.publish(batch)
            }
        }
    }
}
