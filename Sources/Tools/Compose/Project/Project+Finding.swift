import Foundation

extension Project {
    /// Those that have been started on this machine by this user and not been forgotten since, by name.
    package static func all(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ComposeError) -> [Project] {
        // Any name tells the folder of all.
        let root = (try Project(name: "any", environment: environment).stateDirectory as NSString)
            .deletingLastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return names.sorted().compactMap { name in
            guard let project = try? Project(name: name, environment: environment) else { return nil }
            return FileManager.default.fileExists(atPath: project.statusPath) ? project : nil
        }
    }

    /// Returns when the supervisor that runs now, if any, has ended.
    package func supervisorHasEnded() async throws(ComposeError) {
        try await ProjectStatus.read(self)?.supervisor.open()?.waitForExit()
    }
}
