internal import ArgumentParser
internal import Scaffold

struct NewMessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message", abstract: "Writes a message: one struct, and a test of how it is on the wire.",
        discussion: """
            segue new message event.CoffeeServed kind:String
            segue new message document.Menu coffees:[String] note:String?
            segue new message query.Stock kind:String --answer cups:Int
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
