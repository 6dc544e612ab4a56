internal import ArgumentParser
internal import EventBus

/// Dead letters, as they are named on a command line.
struct LetterArguments: ParsableArguments, Sendable {
    @Argument(help: ArgumentHelp("Their numbers in 'segue dead list'.", valueName: "id"))
    var ids: [DeadLetter.ID] = []

    @Flag(help: "All of them.")
    var all = false

    @Option(help: "With --all: only those of this consumer.")
    var consumer: String?

    func validate() throws {
        guard all == ids.isEmpty else { throw ValidationError("name the letters, or use --all") }
        guard all || consumer == nil else { throw ValidationError("--consumer goes with --all") }
    }

    var selection: LetterSelection {
        all ? .all(consumer: consumer) : .ids(ids)
    }
}
