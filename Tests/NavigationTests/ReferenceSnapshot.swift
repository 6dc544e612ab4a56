import Foundation
import Navigation
import Support

/// A snapshot that is encoded with the containers of `Codable`. The JSON of a snapshot has the same bytes.
struct ReferenceSnapshot: Encodable {
    let snapshot: NavigationSnapshot

    private enum Key: String, CodingKey {
        case platform, session, revision, flow, cause, rule, commands, state, memory, url, withoutBack
        case name, version, hash
        case instances, departures, attempts, answers, tabReports, button, report
        case root, path, presented, leaving, runs, attempt, otherAttempts, parked, tabHistory, waits
        case style, container, kind, columns, tabs, selected
        case screen, instance, arguments, run
    }

    private typealias Object = KeyedEncodingContainer<Key>

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(snapshot.platform, forKey: .platform)
        try object.encode(snapshot.session, forKey: .session)
        try object.encode(snapshot.revision, forKey: .revision)
        try object.encode(snapshot.cause, forKey: .cause)
        try object.encodeIfPresent(snapshot.rule, forKey: .rule)
        try object.encode(snapshot.commands, forKey: .commands)
        try object.encode(snapshot.url, forKey: .url)
        if !snapshot.withoutBack.isEmpty { try object.encode(snapshot.withoutBack, forKey: .withoutBack) }
        var flow = object.nestedContainer(keyedBy: Key.self, forKey: .flow)
        try flow.encode(snapshot.flow.name, forKey: .name)
        try flow.encode(snapshot.flow.version, forKey: .version)
        try flow.encode(snapshot.flow.hash, forKey: .hash)
        var memory = object.nestedContainer(keyedBy: Key.self, forKey: .memory)
        try memory.encode(snapshot.memory.instances, forKey: .instances)
        try memory.encodeIfPresent(snapshot.memory.attempts, forKey: .attempts)
        try memory.encodeIfPresent(snapshot.memory.answers, forKey: .answers)
        try memory.encodeIfPresent(snapshot.memory.tabReports, forKey: .tabReports)
        var departures = memory.nestedUnkeyedContainer(forKey: .departures)
        for departure in snapshot.memory.departures {
            var object = departures.nestedContainer(keyedBy: Key.self)
            try object.encode(departure.instance, forKey: .instance)
            try object.encode(departure.report, forKey: .report)
            try object.encodeIfPresent(departure.button, forKey: .button)
        }
        var state = object.nestedContainer(keyedBy: Key.self, forKey: .state)
        try encode(snapshot.state, to: &state)
    }

    private func encode(_ state: NavigationState, to object: inout Object) throws {
        var root = object.nestedContainer(keyedBy: Key.self, forKey: .root)
        try encode(state.root.instance, to: &root)
        if let container = state.root.container {
            var object = root.nestedContainer(keyedBy: Key.self, forKey: .container)
            try encode(container, to: &object)
        }
        try encode(state.path, as: .path, to: &object)
        try encode(state.presentations[...], to: &object)
        try encode(state.leaving, as: .leaving, to: &object)
        if !state.runs.isEmpty { try object.encode(state.runs, forKey: .runs) }
        try object.encodeIfPresent(state.attempt, forKey: .attempt)
        if state.attempts.count > 1 { try object.encode(Array(state.attempts.dropFirst()), forKey: .otherAttempts) }
        try object.encode(state.parked, forKey: .parked)
        try object.encodeIfPresent(state.tabHistory, forKey: .tabHistory)
        if !state.waits.isEmpty { try object.encode(state.waits, forKey: .waits) }
    }

    private func encode(_ presentations: ArraySlice<Presentation>, to object: inout Object) throws {
        guard let first = presentations.first else { return try object.encodeNil(forKey: .presented) }
        // The options are members of the same object.
        try object.encode(first.options, forKey: .presented)
        var inner = object.nestedContainer(keyedBy: Key.self, forKey: .presented)
        try inner.encode(first.style, forKey: .style)
        try encode(first.instance, to: &inner)
        try encode(first.path, as: .path, to: &inner)
        try encode(presentations.dropFirst(), to: &inner)
    }

    private func encode(_ container: Container, to object: inout Object) throws {
        switch container {
        case .split(let columns):
            try object.encode("split", forKey: .kind)
            try object.encode(columns.mapValues { Stack(reference: self, stack: $0) }, forKey: .columns)
        case .tabs(let tabs, let selected):
            try object.encode("tabs", forKey: .kind)
            try object.encode(selected, forKey: .selected)
            var list = object.nestedUnkeyedContainer(forKey: .tabs)
            for tab in tabs {
                var object = list.nestedContainer(keyedBy: Key.self)
                try encode(tab.stack, to: &object)
                try object.encode(tab.name, forKey: .name)
            }
        }
    }

    private struct Stack: Encodable {
        let reference: ReferenceSnapshot
        let stack: ScreenStack

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try reference.encode(stack, to: &object)
        }
    }

    private func encode(_ stack: ScreenStack, to object: inout Object) throws {
        try encode(stack.instance, to: &object)
        try encode(stack.path, as: .path, to: &object)
    }

    private func encode(_ instances: [ScreenInstance], as key: Key, to object: inout Object) throws {
        var list = object.nestedUnkeyedContainer(forKey: key)
        for instance in instances {
            var object = list.nestedContainer(keyedBy: Key.self)
            try encode(instance, to: &object)
        }
    }

    private func encode(_ instance: ScreenInstance, to object: inout Object) throws {
        try object.encode(instance.screen, forKey: .screen)
        try object.encode(instance.id, forKey: .instance)
        try object.encode(instance.arguments, forKey: .arguments)
        try object.encodeIfPresent(instance.run, forKey: .run)
    }
}
