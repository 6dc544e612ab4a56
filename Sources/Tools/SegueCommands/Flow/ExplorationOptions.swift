internal import AppContract
internal import ArgumentParser
internal import FlowReview

/// The options of the verbs that explore flows.
struct ExplorationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The app's contract, a file that 'segue contract export' has written.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var contract: String?

    @Option(help: "The number of states after which an exploration ends.")
    var states = 100_000

    func validate() throws {
        if states < 1 { throw ValidationError("--states must be at least 1") }
    }

    /// The messages of the app's contract, also with what services answer.
    func messages() throws -> MessageCatalogue {
        try contract.map { try ContractFile.read($0).catalogue } ?? MessageCatalogue([:])
    }
}
