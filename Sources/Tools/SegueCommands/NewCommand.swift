package import ArgumentParser
internal import Compose
internal import FlowFiles
internal import Foundation
internal import Scaffold

package struct NewCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Add a message, a screen or a service to your app's package.",
        discussion: """
            segue new message command.CoffeeRefilled cups:Int note:String?
            segue new screen loyalty --on command.LoyaltyWanted
            segue new service roaster --on command.BeansOrdered --sends event.BeansRoasted

            The new code has a test if Package.swift has a test target for the module. No file is replaced: messages, \
            screens and services are added to your source files, flows and compose files.
            """,
        subcommands: [NewMessageCommand.self, NewScreenCommand.self, NewServiceCommand.self])

    package init() {}
}

/// The options that all subcommands of `segue new` share.
struct NewOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp(
            "The folder of messages. (default: the folder named Vocabulary in Sources)",
            valueName: "folder"))
    var vocabulary: String?

    @Flag(help: "Write nothing; list the files that would be written.")
    var dryRun = false

    /// - Throws: ``ScaffoldError``.
    func package() throws -> PackageLayout {
        try PackageLayout(around: FileManager.default.currentDirectoryPath, vocabulary: vocabulary)
    }

    /// Writes the files, unless this is a dry run, and lists them.
    /// - Throws: ``ScaffoldError`` if a new file exists already.
    func write(_ scaffold: Scaffold, to package: PackageLayout) async throws {
        try dryRun ? scaffold.check(in: package.root) : scaffold.write(to: package.root)
        for path in scaffold.files.keys.sorted() {
            try await Console.output.writeLine("\(scaffold.changed.contains(path) ? "changed" : "made") \(path)")
        }
        await Console.error.tell(scaffold.notes)
    }
}

struct NewMessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message",
        abstract: "Add a message: a struct, and a test of its JSON.",
        discussion: """
            segue new message event.CoffeeServed kind:String
            segue new message document.Menu coffees:[String] note:String?
            segue new message query.Stock kind:String --answer cups:Int

            The struct is added after the last message of its kind in Commands.swift, Events.swift, Documents.swift or \
            Queries.swift in the folder of messages. If that file does not exist, it is created. In a package that has \
            none of these files, but one file for each message, a new file is created for the message.
            """)

    @OptionGroup var options: NewOptions

    @Argument(help: "The message's type, such as command.CoffeeOrdered.")
    var type: String

    @Argument(help: "The message's fields, such as cups:Int or note:String?.")
    var fields: [String] = []

    @Option(
        parsing: .upToNextOption, help: ArgumentHelp("The fields of a query's answer.", valueName: "fields"))
    var answer: [String] = []

    func run() async throws {
        let package = try options.package()
        let template = try MessageTemplate(MessageName(type), fields: Field.list(fields), answer: Field.list(answer))
        try await options.write(template.scaffold(in: package), to: package)
    }
}

struct NewScreenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "screen",
        abstract: "Add a screen to a flow, with a rule that leads to it and a test of the rule.",
        discussion: """
            segue new screen loyalty --on command.LoyaltyWanted
            segue new screen receipt --on command.ReceiptWanted --from cup --flow flow.yaml

            'device --flow flow.yaml' then shows the screen.
            """)

    @OptionGroup var options: NewOptions

    @Argument(help: "The screen's name, such as loyalty.")
    var name: String

    @Option(
        help: ArgumentHelp("The command that leads to the screen; created if it does not exist.", valueName: "type"))
    var on: String

    @Option(help: ArgumentHelp("The screen that sends the command. (default: the flow's start)", valueName: "screen"))
    var from: String?

    @Option(help: ArgumentHelp("The flow's file, relative to the package's folder.", valueName: "file"))
    var flow = "flow.yaml"

    func run() async throws {
        let package = try options.package()
        let template = try ScreenTemplate(name, on: MessageName(on), from: from)
        try await options.write(template.scaffold(in: package, flow: flow), to: package)
    }
}

struct NewServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Add a service: a type, an executable, an entry in the compose file, and a test.",
        discussion: "segue new service roaster --on command.BeansOrdered --sends event.BeansRoasted")

    @OptionGroup var options: NewOptions

    @Argument(help: "The service's name, such as roaster.")
    var name: String

    @Option(
        help: ArgumentHelp("The command or event to handle; created if it does not exist.", valueName: "type"))
    var on: String

    @Option(help: ArgumentHelp("The event to publish; created if it does not exist.", valueName: "type"))
    var sends: String

    func run() async throws {
        let package = try options.package()
        let template = try ServiceTemplate(name, receives: MessageName(on), sends: MessageName(sends))
        let compose = ComposeFile.find(in: package.root).first.map { String($0.dropFirst(package.root.count + 1)) }
        try await options.write(try template.scaffold(in: package, compose: compose), to: package)
    }
}
