package import ArgumentParser
internal import Compose
internal import FlowFiles
internal import Foundation
internal import Scaffold
internal import Support

package struct NewCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Create an app, or a message, a screen or a service of it.",
        discussion: """
            segue new app tea-time
            segue new message command.CoffeeRefilled cups:Int note:String?
            segue new screen loyalty --on command.LoyaltyWanted
            segue new service roaster --on command.BeansOrdered --sends event.BeansRoasted

            Only new files are written. The lines to add to Package.swift, flows and compose files are printed. A new \
            message, screen or service has a test if the folder Tests has one for the module, such as CoffeeTests.
            """,
        subcommands: [NewAppCommand.self, NewMessageCommand.self, NewScreenCommand.self, NewServiceCommand.self])

    package init() {}
}

/// The options of the subcommands that write to a package.
struct NewOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp(
            "The folder of messages. (default: the folder named Vocabulary in Sources)",
            valueName: "folder"))
    var vocabulary: String?

    @Option(
        help: ArgumentHelp(
            "The module of the messages. (default: the folder in Sources that contains them)", valueName: "name"))
    var module: String?

    @OptionGroup var output: NewOutput

    /// - Throws: ``ScaffoldError``.
    func package() throws -> PackageLayout {
        try PackageLayout(around: FileManager.default.currentDirectoryPath, vocabulary: vocabulary, module: module)
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
    @Flag(help: "Write nothing; print the files that would be written, and the lines to add.")
    var dryRun = false

    /// - Parameter folder: the folder of the files, with a slash at its end; empty for the package's folder.
    func list(_ scaffold: Scaffold, in folder: String = "") async throws {
        for path in scaffold.files.keys.sorted() {
            try await Console.output.writeLine("\(dryRun ? "would make" : "made") \(folder)\(path)")
        }
        for step in scaffold.steps {
            try await Console.output.writeLine("\n\(step.title)\(step.text == nil ? "" : ":")")
            if let text = step.text { try await Console.output.writeLine(text) }
        }
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

            The exit status is 1 if a file exists already.
            """)

    @Argument(help: "The app's name, such as tea-time.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "The folder or the URL of Segue. (default: the folder of the source, unless this program is installed)",
            valueName: "folder or url"),
        completion: .directory)
    var segue: String?

    @OptionGroup var output: NewOutput

    func run() async throws {
        let directory = FileManager.default.currentDirectoryPath
        guard let segue = segue ?? Version.source.flatMap(SegueSource.folder(ofSource:)) else {
            throw CommandError(
                code: "unknown-source", "the folder of Segue is not known",
                recovery: "name the folder or the URL of Segue with --segue", status: .noInput)
        }
        let source = try SegueSource(segue, version: Version.number, directory: directory)
        let scaffold = try AppTemplate(name, segue: source).scaffold()
        let folder = "\(directory)/\(name)"
        try output.dryRun ? scaffold.check(inNewFolder: folder) : scaffold.write(toNewFolder: folder)
        try await output.list(scaffold, in: "\(name)/")
    }
}

struct NewMessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message",
        abstract: "Create a message: a file with a struct, and a test of its JSON.",
        discussion: """
            segue new message event.CoffeeServed kind:String at:Date
            segue new message document.Menu coffees:[String] note:String?
            segue new message query.Stock kind:String --answer cups:Int

            The file is in the folder of messages, such as DomainEvent+CoffeeServed.swift.

            The exit status is 1 if the message exists already.
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
        let template = try MessageTemplate(MessageShape([type] + fields), answer: Field.list(answer))
        try await options.write(template.scaffold(in: package), to: package)
    }
}

struct NewScreenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "screen",
        abstract: "Create the test of a new screen; print its entry in the flows, and the rule that leads to it.",
        discussion: """
            segue new screen loyalty --on command.LoyaltyWanted
            segue new screen receipt --on command.ReceiptWanted orderID:String --from cup --flow flows/ios.yaml

            The screen gets the string fields of the command as arguments. When you have added the printed lines, 'device --flow flows/ios.yaml' shows the screen.

            The exit status is 1 if the screen exists already.
            """)

    @OptionGroup var options: NewOptions

    @Argument(help: "The screen's name, such as loyalty.")
    var name: String

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("The command that leads to the screen, and its fields.", valueName: "type and fields"))
    var on: [String]

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
        let template = try ScreenTemplate(name, on: MessageShape(on), from: from)
        try await options.write(
            template.scaffold(in: package, flows: flow.isEmpty ? package.flows : flow), to: package)
    }
}

struct NewServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Create a service: a type, an executable and a test; print its entries in other files.",
        discussion: """
            segue new service roaster --on command.BeansOrdered kind:String --sends event.BeansRoasted kind:String

            The fields are those of the messages: the new code contains an example of each.

            The exit status is 1 if the service exists already.
            """)

    @OptionGroup var options: NewOptions

    @Argument(help: "The service's name, such as roaster.")
    var name: String

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("The command or event to handle, and its fields.", valueName: "type and fields"))
    var on: [String]

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("The event to publish, and its fields.", valueName: "type and fields"))
    var sends: [String]

    func run() async throws {
        let package = try options.package()
        let template = try ServiceTemplate(name, receives: MessageShape(on), sends: MessageShape(sends))
        let compose = ComposeFile.find(in: package.root).first?.removing(prefix: "\(package.root)/").map(String.init)
        try await options.write(try template.scaffold(in: package, compose: compose), to: package)
    }
}
