import Foundation
import Glibc
import Logging

extension Supervisor {
    /// Does what was asked for as far as it can be done at once: it gives the orders and does not wait for what follows.
    ///
    /// - Parameter isRehearsal: whether to tell only what would be done.
    /// - Returns: what becomes of each instance; ``ProjectStatus/outcome(of:isReadyEnough:)`` tells how far it is.
    /// - Throws: ``ComposeError``; nothing has changed then.
    @discardableResult
    package func perform(_ request: ControlRequest, isRehearsal: Bool = false) throws(ComposeError) -> [Change] {
        if isRehearsal {
            var roster = board.view
            return try roster.apply(request)
        }
        if case .up(let request) = request { try offerPorts(request.stack.ports) }
        let changes = try board.update { roster throws(ComposeError) in
            let before = roster.stack
            let changes = try roster.apply(request)
            try self.project.prepare(services: roster.status.services.map(\.name))
            if roster.stack != before { try self.project.save(roster.stack) }
            return changes
        }
        // Whoever has asked may look at once.
        recorder.flush()
        if case .kill(_, let signal) = request { send(signal, to: changes.map(\.instance)) }
        return changes
    }

    func answer(_ call: ControlCall) -> ControlReply {
        do throws(ComposeError) {
            return .done(try perform(call.request, isRehearsal: call.isRehearsal))
        } catch {
            return .refused(error)
        }
    }

    /// Ports that have been picked stay as they are: running services know them.
    private func offerPorts(_ names: [String]) throws(ComposeError) {
        let picked = board.view.status.ports
        let ports = try LoopbackPorts.pick(for: names.filter { picked[$0] == nil })
        if !ports.isEmpty { board.update { $0.status.ports.merge(ports) { old, _ in old } } }
    }

    /// To the leader alone, by a handle that means no other process, even if it ends at this moment.
    private func send(_ signal: Int32, to instances: [String]) {
        let view = board.view
        for name in instances { view[name]?.process?.open()?.send(signal) }
    }
}
