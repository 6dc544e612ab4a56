package import ArgumentParser

package struct NewCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Writes the start of a message, a screen or a service into your app's package.",
        discussion: """
            segue new message command.CoffeeRefilled cups:Int note:String?
            segue new screen loyalty --on command.LoyaltyWanted
            segue new service roaster --on command.BeansOrdered --sends event.BeansRoasted

            What it writes compiles and has a test. Nothing that is there is overwritten.
            """,
        subcommands: [NewMessageCommand.self, NewScreenCommand.self, NewServiceCommand.self])

    package init() {}
}
