import ArgumentParser
import BusSoak

/// What every role is told.
struct FixtureOptions: ParsableArguments {
    @Option(help: "The bus, such as ipc:///run/segue.")
    var bus: String

    @Option(help: "The name of this incarnation.")
    var name: String

    @Option(help: "The file in which it writes down what it does.")
    var history: String

    func process() throws -> FixtureProcess {
        try FixtureProcess(name: name, address: bus, history: history)
    }
}
