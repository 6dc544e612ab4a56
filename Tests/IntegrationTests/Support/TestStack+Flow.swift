import CommandLineTestSupport
import SegueTestSupport

extension TestStack {
    /// Runs a broker, the coordinator of a flow (`ios-coordinator`), and further services.
    /// - Parameters:
    ///   - flow: The flow as YAML. Its platform is ios.
    ///   - services: Further services besides the broker and the coordinator.
    ///   - body: Gets also a shell that knows the bus, in a scratch folder with the file `flow.yaml`.
    static func with(
        flow: String, beside services: [TestService] = [],
        _ body: @escaping @Sendable (TestStack, SegueCommandLine) async throws -> Void
    ) async throws {
        try await SegueCommandLine.inScratch { segue in
            try segue.write(flow, to: "flow.yaml")
            let coordinator = TestService(
                "ios-coordinator", command: ["navigation-coordinator", "--flow", "\(segue.directory)/flow.yaml"],
                after: ["broker"])
            try await TestStack.with([.broker, coordinator] + services) { stack in
                var shell = segue
                shell.environment["SEGUE_BUS"] = stack.busAddress
                try await body(stack, shell)
            }
        }
    }
}
