import CommandLineTestSupport
import Testing

@Suite("The options of a device")
struct DeviceOptionTests {
    @Test(
        "the platform comes from the flow; without either, or with two that differ, it says what to write",
        arguments: [
            ("", "--platform ios or mac"), ("--platform onboarding", "--flow FILE"),
            ("--platform mac --flow config/flows/examples/onboarding.yaml", "is for onboarding, and --platform is mac"),
            ("--flow nowhere.yaml", "nowhere.yaml: cannot be read"),
        ])
    func mistakes(options: String, complaint: String) async throws {
        try await SegueCommandLine.inRepository { segue in
            let result = try await segue.shell("device \(options)")
            #expect(result.status != 0)
            #expect(result.error.contains(complaint), "\(result.error)")
        }
    }
}
