import Foundation
import Support
import SystemSupport

/// How a project is, as its supervisor last wrote it down.
package struct ProjectStatus: Sendable, Codable, Equatable {
    package enum Phase: String, Sendable, Codable {
        /// Not every service has reached the state that is waited for.
        case starting
        /// Every service runs, and is ready where that is expected.
        case up
        case stopping
        case stopped
    }

    package let project: String
    package let supervisor: ProcessIdentity
    package let bus: String
    /// Picked for the names in `x-ports`.
    package internal(set) var ports: [String: Int] = [:]
    package internal(set) var phase: Phase = .starting
    /// Every instance of every service.
    package internal(set) var services: [ServiceStatus] = []

    /// Whether the supervisor that wrote this runs.
    package var isSupervisorAlive: Bool { supervisor.isAlive }

    package subscript(instance: String) -> ServiceStatus? {
        services.first { $0.name == instance }
    }

    /// - Returns: `nil` when the project was never started here.
    /// - Throws: ``ComposeError`` `status-unreadable`.
    package static func read(_ project: Project) throws(ComposeError) -> ProjectStatus? {
        guard FileManager.default.fileExists(atPath: project.statusPath) else { return nil }
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: project.statusPath))
            do {
                return try Self.decoder.decode(ProjectStatus.self, from: data)
            } catch {
                // Another version wrote it. When it had brought all to an end, nothing of it is left to be known.
                guard try decoder.decode(Ending.self, from: data).isOver else { throw error }
                return nil
            }
        } catch {
            throw ComposeError(
                code: "status-unreadable",
                message: "\(project.statusPath) is not a supervisor's status",
                recovery: "remove it if no process of project '\(project.name)' runs"
            )
        }
    }

    /// Replaces the file at once, so that no reader ever sees half of it.
    func write(to project: Project) throws {
        try AtomicFile(project.statusPath).replace(with: Self.encoder.encode(self), isDurable: false)
    }

    /// What every version says of a run.
    private struct Ending: Decodable {
        let phase: Phase
        let supervisor: ProcessIdentity

        var isOver: Bool { phase == .stopped && !supervisor.isAlive }
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return encoder
    }

    /// The instances that services' or their own names mean; all when there are none.
    ///
    /// - Parameter project: whose status it is; its stack knows the services that were scaled to none.
    /// - Throws: ``ComposeError`` `unknown-service`, `stack-file`.
    package func instances(named names: [String], of project: Project) throws(ComposeError) -> [ServiceStatus] {
        try check(names, areIn: try names.isEmpty ? [] : knownNames(of: project))
        return names.isEmpty ? services : services.filter { names.contains($0.service) || names.contains($0.name) }
    }

    /// The names of all services, and of those of their instances that there are.
    func knownNames(of project: Project) throws(ComposeError) -> Set<String> {
        let stack = try project.savedStack()
        return Set(services.flatMap { [$0.service, $0.name] }).union(stack?.services.map(\.name) ?? [])
    }

    func check(_ names: [String], areIn known: Set<String>) throws(ComposeError) {
        guard let unknown = names.first(where: { !known.contains($0) }) else { return }
        let hint = Spelling.suggestion(for: unknown, among: known)
        throw ComposeError(
            code: "unknown-service", message: "project '\(project)' has no service '\(unknown)'",
            recovery: hint ?? "it has \(known.sorted().joined(separator: ", "))")
    }

    /// How far a change is: one that starts an instance is done when that has reached a milestone, others when there is
    /// no process left.
    package func outcome(of change: Change, until milestone: Milestone = .ready) -> ChangeOutcome {
        guard let instance = self[change.instance] else {
            return change.action == .remove ? .reached : .overtaken("'\(change.instance)' was removed meanwhile")
        }
        let isWanted = instance.order.isWanted
        switch change.action {
        case .stop, .remove:
            if isWanted { return .overtaken("'\(change.instance)' was started again meanwhile") }
            // One that was removed has its process behind it when it is off the list.
            return instance.isActive || change.action == .remove ? .pending : .reached
        case .keep where !isWanted:
            return .reached
        case .start, .restart, .keep:
            if !isWanted { return .overtaken("'\(change.instance)' was stopped meanwhile") }
            if instance.round < change.round { return .pending }
            if let failure = instance.failure { return .failed(failure) }
            return instance.hasReached(milestone) ? .reached : .pending
        }
    }
}

/// How far something is that was asked for.
package enum ChangeOutcome: Sendable, Equatable {
    case pending
    case reached
    /// Somebody else has asked for something that excludes it.
    case overtaken(String)
    case failed(ComposeError)
}
