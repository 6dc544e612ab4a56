package import ArgumentParser
internal import Compose
internal import FlowFiles
internal import Foundation
internal import Scaffold
internal import Support

package struct NewCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Create an app, or add a message, a screen or a service to it.",
        discussion: """
            segue new app tea-time
            segue new message command.CoffeeRefilled cups:Int note:String?
            segue new screen loyalty --on command.LoyaltyWanted
            segue new service roaster --on command.BeansOrdered --sends event.BeansRoasted

            A new message, screen or service has a test if Package.swift has a test target for the module. No file is \
            replaced: messages, screens and services are added to your source files, flows and compose files.
            """,
        subcommands: [NewAppCommand.self, NewMessageCommand.self, NewScreenCommand.self, NewServiceCommand.self])

    package init() {}
}

/// The options of the subcommands that add to a package.
struct NewOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp(
            "The folder of messages. (default: the folder named Vocabulary in Sources)",
            valueName: "folder"))
    var vocabulary: String?

    @OptionGroup var output: NewOutput

    /// - Throws: ``ScaffoldError``.
    func package() throws -> PackageLayout {
        try PackageLayout(around: FileManager.default.currentDirectoryPath, vocabulary: vocabulary)
    }

    /// Writes the files, unless this is a dry run, and lists them.
    /// - Throws: ``ScaffoldError`` if a new file exists already.
    func write(_ scaffold: Scaffold, to package: PackageLayout) async throws {
        try output.dryRun ? scaffold.check(in: package.root) : scaffold.write(to: package.root)
        try await output.list(scaffold)
    }
}

/// The option `--dry-run` and the output of all subcommands.
struct NewOutput: ParsableArguments, Sendable {
    @Flag(help: "Write nothing; list the files that would be written.")
    var dryRun = false

    /// - Parameter folder: the folder of the files, with a slash at its end; empty for the package's folder.
    func list(_ scaffold: Scaffold, in folder: String = "") async throws {
        for path in scaffold.files.keys.sorted() {
            let verb = scaffold.changed.contains(path) ? "changed" : "made"
            try await Console.output.writeLine("\(verb) \(folder)\(path)")
        }
        await Console.error.tell(scaffold.notes)
    }
}

struct NewAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Create an app: a package with messages, a service, flows, a stack and tests.",
        discussion: """
            segue new app tea-time
            segue new app tea-time --segue ../segue

            The package is in a new folder with the app's name. Its README says how to build, test and run the app.
            """)

    @Argument(help: "The app's name, such as tea-time.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "The folder or the URL of Segue. (default: the folder from which this program was built)",
            valueName: "folder or url"),
        completion: .directory)
    var segue: String?

    @OptionGroup var output: NewOutput

    func run() async throws {
        let directory = FileManager.default.currentDirectoryPath
        guard let segue = segue ?? SegueSource.folder(ofSource: #filePath) else {
            throw CommandError(
                code: "unknown-source", "the folder of Segue is not known",
                recovery: "name the folder or the URL of Segue with --segue", status: .noInput)
        }
        let source = try SegueSource(segue, version: Version.number, directory: directory)
        let scaffold = try AppTemplate(name, segue: source).scaffold
        let folder = "\(directory)/\(name)"
        try output.dryRun ? scaffold.check(inNewFolder: folder) : scaffold.write(toNewFolder: folder)
        try await output.list(scaffold, in: "\(name)/")
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
        abstract: "Add a screen to the flows, with a rule that leads to it and a test of the rule.",
        discussion: """
            segue new screen loyalty --on command.LoyaltyWanted
            segue new screen receipt --on command.ReceiptWanted --from cup --flow flows/ios.yaml

            'device --flow flows/ios.yaml' then shows the screen.
            """)

    @OptionGroup var options: NewOptions

    @Argument(help: "The screen's name, such as loyalty.")
    var name: String

    @Option(
        help: ArgumentHelp("The command that leads to the screen; created if it does not exist.", valueName: "type"))
    var on: String

    @Option(help: ArgumentHelp("The screen that sends the command. (default: the flow's start)", valueName: "screen"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            """
            A flow, relative to the package's folder. May be repeated. (default: flow.yaml, or the flows in the folder \
            flows)
            """,
            valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var flow: [String] = []

    func run() async throws {
        let package = try options.package()
        let template = try ScreenTemplate(name, on: MessageName(on), from: from)
        try await options.write(
            template.scaffold(in: package, flows: flow.isEmpty ? package.flows : flow), to: package)
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
        let compose = ComposeFile.find(in: package.root).first?.removing(prefix: "\(package.root)/").map(String.init)
        try await options.write(try template.scaffold(in: package, compose: compose), to: package)
    }
}
