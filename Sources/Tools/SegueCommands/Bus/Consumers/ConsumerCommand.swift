package import ArgumentParser

package struct ConsumerCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "consumer", abstract: "Lists the durable consumers, and removes those that nobody runs any more.",
        discussion: """
            segue consumer list            each with its lag, and who runs it
            segue consumer forget waiter   removes one that no process runs
            """,
        subcommands: [ConsumerListCommand.self, ConsumerForgetCommand.self])

    package init() {}
}
