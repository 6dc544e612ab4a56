internal import ArgumentParser
package import Navigation
internal import ServiceRuntime

/// Whose screens a device shows: the focus player's on one of its platforms, or those of any flow.
package struct PlatformOptions: ParsableArguments {
    /// Those whose screens have been drawn.
    private static let platforms = ["ios", "mac"]

    @Option(help: "Whose screens to show: ios or mac, or the platform of the flow. (default: the flow's)")
    var platform: String?

    @Option(help: ArgumentHelp("A flow whose screens to show, such as config/flows/ios.yaml.", valueName: "file"))
    var flow: String?

    package init() {}

    package func validate() throws {
        guard flow == nil else { return }
        guard let platform, Self.platforms.contains(platform) else {
            throw ValidationError(
                "name the platform, --platform \(Self.platforms.joined(separator: " or ")), or its flow, --flow FILE")
        }
    }

    /// - Returns: the platform, and its flow if one was named.
    /// - Throws: what ends the process with what is wrong with the flow's file.
    package func read() throws -> (platform: String, flow: Flow?) {
        guard let file = flow else { return (platform ?? "", nil) }
        let flow = try ServiceProcess.readFlow(file)
        guard platform == nil || platform == flow.platform else {
            throw ValidationError(
                "\(file) is for \(flow.platform), and --platform is \(platform ?? ""); leave --platform out")
        }
        return (flow.platform, flow)
    }
}
