package import ArgumentParser
internal import EventBus
internal import Monitor

package struct DeadListCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the messages that consumers have given up, oldest first.")

    @OptionGroup var options: BusOptions

    @Option(help: "Only those of this consumer.")
    var consumer: String?

    @Flag(help: "One JSON object a line, with the message.")
    var json = false

    package init() {}

    package func run() async throws {
        let consumer = consumer
        let letters = try await options.withBus { try await $0.deadLetters(of: consumer) }
        guard !json else {
            for letter in letters { try await Console.output.writeLine(try DeadLetterFormat.json(letter)) }
            return
        }
        if letters.isEmpty { return await Console.error.tell("there are no dead letters") }
        for line in DeadLetterFormat.table(letters).lines { try await Console.output.writeLine(line) }
    }
}
