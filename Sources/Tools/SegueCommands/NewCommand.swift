package import ArgumentParser
internal import Compose
internal import FlowFiles
internal import Foundation
internal import Scaffold

package struct NewCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Writes the start of a message, a screen or a service into your app's package.",
        discussion: """
            segue new message command.CoffeeRefilled cups:Int note:String?
            segue new screen loyalty --on command.LoyaltyWanted
            segue new service roaster --on command.BeansOrdered --sends event.BeansRoasted

            What it writes compiles and has a test. Nothing that is there is overwritten: messages, screens and services \
            are added to the pages, flows and stacks that you have.
            """,
        subcommands: [NewMessageCommand.self, NewScreenCommand.self, NewServiceCommand.self])

    package init() {}
}

/// Where something new belongs, and how it is told.
struct NewOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp(
            "The folder of messages. Without it: the one below Sources that is called Vocabulary.", valueName: "folder")
    )
    var vocabulary: String?

    @Flag(help: "Only tell what would be written.")
    var dryRun = false

    /// - Throws: ``ScaffoldError``.
    func package() throws -> PackageLayout {
        try PackageLayout(around: FileManager.default.currentDirectoryPath, vocabulary: vocabulary)
    }

    /// - Throws: ``ScaffoldError`` when a file is there already.
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
        abstract: "Writes a message: one struct on the page of its kind, and a test of how it is on the wire.",
        discussion: """
            segue new message event.CoffeeServed kind:String
            segue new message document.Menu coffees:[String] note:String?
            segue new message query.Stock kind:String --answer cups:Int

            The struct is added to the page of its kind, after the last message there: Commands.swift, Events.swift, \
            Documents.swift or Queries.swift in the folder of messages. A page that is not there is made. In a package \
            that has no page, but a file for each message, it gets a file of its own.
            """)

    @OptionGroup var options: NewOptions

    @Argument(help: "Its type, such as command.CoffeeOrdered.")
    var type: String

    @Argument(help: "Its fields, such as cups:Int or note:String?.")
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
        abstract: "Writes a screen into a flow, with a rule that leads to it, and a test of that.",
        discussion: """
            segue new screen loyalty --on command.LoyaltyWanted
            segue new screen receipt --on command.ReceiptWanted --from cup --flow flow.yaml

            'device --flow flow.yaml' shows it at once.
            """)

    @OptionGroup var options: NewOptions

    @Argument(help: "Its name, such as loyalty.")
    var name: String

    @Option(help: ArgumentHelp("The command that leads to it; made if it is not there.", valueName: "type"))
    var on: String

    @Option(help: ArgumentHelp("The screen where that is sent. (default: the flow's start)", valueName: "screen"))
    var from: String?

    @Option(help: ArgumentHelp("The flow, from the package's folder.", valueName: "file"))
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
        abstract: "Writes a service: a type, an executable, its place in the stack, and a test.",
        discussion: "segue new service roaster --on command.BeansOrdered --sends event.BeansRoasted")

    @OptionGroup var options: NewOptions

    @Argument(help: "Its name, such as roaster.")
    var name: String

    @Option(help: ArgumentHelp("The command or event that it takes; made if it is not there.", valueName: "type"))
    var on: String

    @Option(help: ArgumentHelp("The event that it answers with; made if it is not there.", valueName: "type"))
    var sends: String

    func run() async throws {
        let package = try options.package()
        let template = try ServiceTemplate(name, receives: MessageName(on), sends: MessageName(sends))
        let compose = ComposeFile.find(in: package.root).first.map { String($0.dropFirst(package.root.count + 1)) }
        try await options.write(try template.scaffold(in: package, compose: compose), to: package)
    }
}
