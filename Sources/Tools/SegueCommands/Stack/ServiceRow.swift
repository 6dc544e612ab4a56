internal import Compose
internal import Foundation
internal import Monitor

/// One service in the list of `segue ps`.
struct ServiceRow: Encodable {
    let name: String
    let service: String
    let state: ServiceStatus.State
    let health: ServiceHealth.State?
    let pid: Int32?
    let exitCode: Int32?
    let signal: Int32?
    let restarts: Int
    let startedAt: Date?
    let note: String?
    /// Or was not wanted in the first place. For `segue ps` itself: a program has the state.
    let hasEnded: Bool

    private enum CodingKeys: String, CodingKey {
        case name, service, state, health, pid, exitCode, signal, restarts, startedAt, note
    }

    /// - Parameter isSupervised: whether what was written down still holds. If not, only the process itself tells.
    init(_ status: ServiceStatus, isSupervised: Bool) {
        let isAlive = status.process?.isAlive ?? false
        name = status.name
        service = status.service
        health = isAlive ? status.health?.state : nil
        state = isSupervised || isAlive || status.isFinished ? status.state : .exited
        pid = isAlive ? status.pid : nil
        exitCode = status.exitCode
        signal = status.signal
        restarts = status.restarts
        startedAt = status.startedAt
        hasEnded = state == .exited || state == .failed || (state == .created && !status.order.isWanted)
        let isOver = status.isFinished || status.state == .restarting
        let illness = isAlive ? status.health.flatMap { $0.state == .healthy ? nil : $0.reason } : nil
        note = (illness ?? status.message ?? (isOver ? status.ending : nil))?.printable
    }

    /// How long its process has been running.
    func uptime(at date: Date) -> String? {
        guard pid != nil, let startedAt else { return nil }
        let seconds = max(0, Int(date.timeIntervalSince(startedAt)))
        return switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: "\(seconds / 60)m \(seconds % 60)s"
        case ..<86_400: "\(seconds / 3600)h \(seconds % 3600 / 60)m"
        default: "\(seconds / 86_400)d \(seconds % 86_400 / 3600)h"
        }
    }
}
