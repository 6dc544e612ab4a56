import CommandLineTestSupport
import Testing

@Suite("Options of a device")
struct DeviceOptionTests {
    @Test(
        "A device takes the platform from its flow, and refuses none or two that differ",
        arguments: [
            ("focus-player", "--platform ios or mac"), ("focus-player --platform onboarding", "--flow FILE"),
            ("device", "give the platform with --platform NAME, or a flow with --flow FILE"),
            (
                "device --platform mac --flow config/flows/examples/onboarding.yaml",
                "is a flow for onboarding, but --platform is mac"
            ),
            ("device --flow nowhere.yaml", "nowhere.yaml: cannot be read"),
            ("device --platform ios -p No/Where", "device: 'No/Where' is not a project name"),
            // The options of 'web' are not taken for those of the terminal.
            ("focus-player web --bus nowhere", "'nowhere' is not the address of a bus"),
        ])
    func mistakes(command: String, complaint: String) async throws {
        try await SegueCommandLine.inRepository { segue in
            let result = try await segue.shell(command)
            #expect(result.status != 0)
            #expect(result.error.contains(complaint), "\(result.error)")
        }
    }
}
