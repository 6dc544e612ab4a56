package import Navigation
package import Support

/// A machine with a short way to send it messages, numbered `m1`, `m2` and so on.
package struct Session {
    package private(set) var machine: Machine
    private var sent = 0

    package init(_ flow: Flow) {
        machine = Machine(flow: flow)
    }

    package init(_ platform: String) throws {
        self.init(try ShippedFlows.flow(platform))
    }

    /// A session of the shipped flow that shows a generated playlist.
    package static func showingPlaylist(_ id: JSONValue = "p1", on platform: String) throws -> Session {
        var session = try Session(platform)
        session.send("event.LaunchFinished")
        session.send("event.SpotifyAuthorizationUpdated", ["status": "authorized"])
        session.send("command.PlaylistSelected", ["playlistID": id])
        return session
    }

    @discardableResult
    package mutating func send(
        _ type: String,
        _ data: JSONValue = [:],
        platform: String? = nil,
        instance: String? = nil,
        causedBy cause: String? = nil,
        time: Int? = nil
    ) -> [Machine.Effect] {
        let attributes = Machine.Attributes(platform: platform, instance: instance, causationID: cause, time: time)
        return send(type, data, attributes: attributes)
    }

    @discardableResult
    package mutating func send(
        _ type: String,
        _ data: JSONValue = [:],
        attributes: Machine.Attributes
    ) -> [Machine.Effect] {
        sent += 1
        return machine.handle(Machine.Input(id: "m\(sent)", type: type, data: data, attributes: attributes))
    }

    /// Opens a deep link, at a time in milliseconds since 1970.
    @discardableResult
    package mutating func open(_ url: String, at time: Int = 0, platform: String? = nil) -> [Machine.Effect] {
        send("event.DeepLinkReceived", ["url": .string(url)], platform: platform, time: time)
    }

    /// Sends a report of a view of the machine's platform about an instance.
    @discardableResult
    package mutating func report(_ name: String, _ instance: String, _ more: [String: JSONValue] = [:]) -> [Machine
        .Effect]
    {
        let data = more.merging(["instance": .string(instance)]) { own, _ in own }
        return send("command.\(name)", .object(data), platform: machine.flow.platform)
    }

    package var state: NavigationState { machine.state }
    package var root: String { state.root.instance.screen }
    package var path: [String] { state.path.map(\.screen) }
    package var presented: [String] { state.presentations.map(\.instance.screen) }
    package var leaving: [String] { state.leaving.map(\.id) }
}

extension [Machine.Effect] {
    package var discards: [String] {
        compactMap { if case .messageDiscarded(_, let reason) = $0 { reason } else { nil } }
    }

    /// The ids of the discarded messages.
    package var discarded: [String] {
        compactMap { if case .messageDiscarded(let id, _) = $0 { id } else { nil } }
    }

    /// The types of the commands that were sent.
    package var sent: [String] {
        compactMap { if case .send(let type, _) = $0 { type } else { nil } }
    }

    /// The intermediate states.
    package var passed: [NavigationSnapshot] {
        compactMap { if case .passed(let snapshot) = $0 { snapshot } else { nil } }
    }

    package var dismissals: [String] {
        compactMap { if case .screenDismissed(let instance, _) = $0 { instance } else { nil } }
    }

    package var failureCodes: [String] {
        compactMap { if case .failed(let failure) = $0 { failure.code } else { nil } }
    }
}
