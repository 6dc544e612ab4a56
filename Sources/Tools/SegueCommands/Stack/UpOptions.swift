internal import ArgumentParser
internal import Compose

/// What of a stack is brought up, and how.
struct UpOptions: ParsableArguments, Sendable {
    @Flag(help: "Without the services that those that are named depend on.")
    var noDeps = false

    @Option(
        help: ArgumentHelp(
            "How many processes of a service there shall be, whatever the file says; for several services, several times.",
            valueName: "service=number"))
    var scale: [Scale] = []

    @Flag(help: "Restart also what has not changed.")
    var forceRecreate = false

    @Flag(help: "Leave alone also what has changed.")
    var noRecreate = false

    @OptionGroup var supervise: SuperviseOptions

    @Argument(help: "Only these services, and what they depend on.", completion: .services)
    var services: [String] = []

    func validate() throws {
        guard !forceRecreate || !noRecreate else {
            throw ValidationError("--force-recreate and --no-recreate exclude each other")
        }
        guard !noDeps || !services.isEmpty else { throw ValidationError("--no-deps needs the names of services") }
    }

    /// - Parameter profiles: those that are asked for instead of the environment's.
    /// - Throws: ``CommandError`` when there is no such service to scale; ``ComposeError`` when a service cannot be had.
    func request(for file: ComposeFile, profiles: [String]) throws -> UpRequest {
        let named = file.stack.services.filter { services.contains($0.name) }
        let active = (profiles.isEmpty ? file.profiles : profiles) + named.flatMap(\.profiles)
        let stack = try file.stack.selecting(profiles: active)
        return UpRequest(
            stack: try stack.scaled(scale),
            inactive: Set(file.stack.services.map(\.name)).subtracting(stack.services.map(\.name)),
            selection: Selection(services, includesDependencies: !noDeps),
            recreation: forceRecreate ? .always : noRecreate ? .never : .changed, grace: supervise.grace.grace)
    }
}
