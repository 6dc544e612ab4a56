import Foundation
import Testing

@testable import Compose

@Suite("The status that another version has written")
struct FormerStatusTests {
    @Test(
        "is none when all had ended, and otherwise is told: something may still run",
        arguments: [("stopped", true), ("up", false), ("stopping", false)])
    func former(phase: String, isPassedOver: Bool) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "segue-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        let project = try Project(name: "p", stateRoot: "\(root)/state", runtimeRoot: "\(root)/run")
        try FileManager.default.createDirectory(atPath: project.stateDirectory, withIntermediateDirectories: true)
        try """
        {"project": "p", "phase": "\(phase)", "services": [{"service": "a", "state": "exited"}],
         "supervisor": {"pid": 1, "startTime": 0, "bootID": "another"}}
        """.write(toFile: project.statusPath, atomically: true, encoding: .utf8)
        if isPassedOver {
            #expect(try ProjectStatus.read(project) == nil)
        } else {
            let error = #expect(throws: ComposeError.self) { try ProjectStatus.read(project) }
            #expect(error?.code == "status-unreadable")
        }
    }
}
