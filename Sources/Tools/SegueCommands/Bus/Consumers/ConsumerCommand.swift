package import ArgumentParser

package struct ConsumerCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "consumer", abstract: "Lists the durable consumers, and removes those that nobody runs any more.",
        discussion: """
            segue consumer list              each with its lag, and the processes that run it
            segue consumer forget waiter     its progress is lost, and it keeps no messages any more
            """,
        subcommands: [ConsumerListCommand.self, ConsumerForgetCommand.self])

    package init() {}
}
