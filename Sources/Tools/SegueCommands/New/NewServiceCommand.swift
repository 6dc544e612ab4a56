internal import ArgumentParser
internal import Compose
internal import Scaffold

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
