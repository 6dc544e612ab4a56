package import ArgumentParser

package struct ContractCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "contract",
        abstract: "Writes down what an app's services receive and send, and says what a change of that breaks.",
        discussion: """
            segue contract export -o config/contract.json    asks each service of the compose file
            segue contract export -p segue                   what runs now, by the bus of that project
            segue contract check config/contract.json        what the services of today break
            segue contract check old.json new.json -v        two files; also what breaks nothing

            A contract is an AsyncAPI 3.0 document. docs/contracts.md tells more.
            """,
        subcommands: [ContractExportCommand.self, ContractCheckCommand.self])

    package init() {}
}
