import FlowFiles
import Foundation
import Navigation
import Support

/// A machine that receives the messages of a view, with the ids `m1`, `m2` and so on.
struct Journey {
    private(set) var machine: Machine
    private var sent = 0

    init(_ flow: Flow) {
        machine = Machine(flow: flow)
    }

    /// - Returns: All effects of the message. They do not include the new state.
    mutating func send(
        _ name: String, _ data: JSONValue, from instance: String? = nil, platform: String? = nil
    ) -> [Machine.Effect] {
        sent += 1
        return machine.handle(
            Machine.Input(
                id: "m\(sent)", type: "command.\(name)", data: data,
                attributes: Machine.Attributes(platform: platform ?? machine.flow.platform, instance: instance)))
    }

    mutating func request(_ action: JSONValue, from instance: String? = nil) -> [Machine.Effect] {
        send("NavigationRequested", ["action": action], from: instance)
    }

    mutating func report(_ name: String, _ instance: String) -> [Machine.Effect] {
        send(name, ["instance": .string(instance)])
    }

    var state: NavigationState { machine.state }
}

extension [Machine.Effect] {
    /// The effects of screens that the program dismisses.
    static func dismissed(_ screens: (instance: String, screen: String)...) -> [Machine.Effect] {
        screens.flatMap { screen -> [Machine.Effect] in
            [
                .screenDismissed(instance: screen.instance, screen: screen.screen),
                .expectScreenGone(instance: screen.instance),
            ]
        }
    }
}

/// The example flows in `config/flows/examples`.
enum FlowFile {
    static func flow(_ name: String) throws -> Flow {
        try Flow(yaml: text("config/flows/examples/\(name).yaml"), file: "\(name).yaml")
    }

    /// A file of this repository.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
