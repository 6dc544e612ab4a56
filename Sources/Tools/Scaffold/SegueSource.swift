internal import Foundation
internal import Support

/// The place from which the package manager gets Segue for an app: a folder or a URL.
package struct SegueSource: Hashable, Sendable {
    /// The arguments of `.package` in Package.swift.
    private let arguments: String

    /// - Parameters:
    ///   - text: a URL, or the path of a folder.
    ///   - version: the lowest version to get from a URL.
    ///   - directory: the folder in which the app's folder will be, and at which a relative path starts.
    /// - Throws: ``ScaffoldError`` if the folder is not that of Segue's package, or the URL cannot be one of Segue.
    package init(_ text: String, version: String, directory: String) throws(ScaffoldError) {
        if text.contains(scalars: "://") || text.wholeMatch(of: #/[^\/]+@[^\/]+:.+/#.byScalar) != nil {
            // The package manager knows a package by the last part of its URL.
            guard text.wholeMatch(of: #/(?i).*[\/:]segue(\.git)?\/?/#.byScalar) != nil else {
                throw ScaffoldError(
                    .argument, "'\(text)' does not end with /segue", recovery: "write it like https://example.com/segue"
                )
            }
            arguments = "url: \(text.debugDescription), from: \"\(version)\""
        } else {
            let isAbsolute = text.begins(with: "/")
            let folder = URL(filePath: isAbsolute ? text : "\(directory)/\(text)").standardizedFileURL.path
            guard Self.isSegue(folder) else {
                throw ScaffoldError(
                    .file, "there is no Package.swift of Segue in \(folder)",
                    recovery: "name the folder or the URL of Segue with --segue")
            }
            // Package.swift is in a subfolder of `directory`.
            let path = isAbsolute ? folder : text == "." ? ".." : "../\(text)"
            arguments = "name: \"segue\", path: \(path.debugDescription)"
        }
    }

    /// The folder of the sources from which this program was built.
    ///
    /// - Parameter file: The path of a source file, or of the folder.
    /// - Returns: nil if the folder does not exist any more, or if it is a copy that the package manager has fetched
    ///   for another package.
    package static func folder(ofSource file: String) -> String? {
        let folders = sequence(first: file) { "/" == $0 ? nil : ($0 as NSString).deletingLastPathComponent }
        guard let root = folders.first(where: isSegue) else { return nil }
        let parent = ((root as NSString).deletingLastPathComponent as NSString).lastPathComponent
        return parent == "checkouts" ? nil : root
    }

    /// The dependency in Package.swift.
    var dependency: String { ".package(\(arguments))" }

    private static func isSegue(_ folder: String) -> Bool {
        let manifest = try? String(contentsOfFile: "\(folder)/Package.swift", encoding: .utf8)
        return manifest?.contains(#/\R    name: "segue",\R/#.byScalar) == true
    }
}

/// The names of Segue's targets, which no target of an app can have.
enum SegueNames {
    /// In a package graph, each module has another name.
    static let modules: Set = [
        "AppContract", "Authorization", "Benchmarks", "Brewing", "Broker", "BrokerProgram", "BusAccess", "BusFormat",
        "BusKeys",
        "BusProtocol", "CCurl", "CEventDescriptor", "CJetStreamPeer", "CNATS", "CSegueVersion", "CSodium", "CZeroMQ",
        "CommandLineSupport", "Compose", "ConsentCallback", "Consuming", "Contracts", "Coordinator", "Device",
        "ErrorNotification", "EventBus", "FlowDrawing", "FlowExploration", "FlowFiles", "FlowReview",
        "FocusPlayerProgram", "HTTPClient",
        "HTTPOperations", "InProcess", "Monitor", "Music", "NATS", "NATSEventBus", "NATSJournal",
        "NATSLayout", "NATSPermissions", "Navigation", "Onboarding", "Opening", "PlatformPrograms", "Presentation",
        "Projects", "Repositories", "Routing", "Scaffold", "SegueCommands", "SegueTestSupport", "ServiceRuntime",
        "Services", "SignIn", "Sodium", "SpotifyAPI", "SpotifySimulator", "Stations", "Steward", "Support",
        "SystemSupport", "TerminalDevice", "ThreeScreens", "TokenVault", "Transports", "Vocabulary", "WebDevice",
        "WebGatewayProgram", "WebInspector", "WebPage", "YAMLText", "ZeroMQ", "ZeroMQEventBus",
    ]
    /// The executables that have the name of an app's service.
    static let services: Set = ["auth-service", "music-service", "onboarding-service", "timer-service"]
}
