package import ArgumentParser

package struct DeadCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "dead", abstract: "Shows, resends and drops the messages that consumers have given up.",
        discussion: """
            segue dead list                      which there are, and why
            segue dead show 3                    one, whole
            segue dead resend 3                  sends it again, to the consumer that has given it up
            segue dead drop --all --consumer C   forgets all of one consumer
            """,
        subcommands: [DeadListCommand.self, DeadShowCommand.self, DeadResendCommand.self, DeadDropCommand.self])

    package init() {}
}
