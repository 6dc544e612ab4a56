import Foundation
import Logging
import TestSupport
import Testing

@testable import Compose

@Suite("What a supervisor writes down")
struct StatusRecorderTests {
    private let scratch: Scratch
    private let project: Project
    private let recorder: StatusRecorder
    private var status: ProjectStatus

    init() throws {
        scratch = try Scratch()
        project = try scratch.project()
        try project.prepare(services: [])
        recorder = StatusRecorder(project: project, logger: Logger(label: "test"))
        status = try Roster(empty: project).status
        status.services = [ServiceStatus(name: "a", service: "a")]
    }

    @Test("Changes that come together are one writing of the status, and each has its event")
    mutating func together() async throws {
        recorder.record(status)
        for state: ServiceStatus.State in [.ready, .stopping, .exited] {
            status.services[0].state = state
            recorder.record(status)
        }
        #expect(try ProjectStatus.read(project) == nil, "nobody has asked for it")
        await recorder.flush()
        #expect(try ProjectStatus.read(project) == status)
        let events = try await project.events(of: ["a"]).reduce(into: []) { $0.append($1.action) }
        #expect(events == [.created, .ready, .stopping, .stopped])
    }

    @Test("What has been written is not written again")
    func once() async throws {
        recorder.record(status)
        await recorder.flush()
        for path in [project.statusPath, project.runningStatusPath] { try FileManager.default.removeItem(atPath: path) }
        await recorder.flush()
        #expect(try ProjectStatus.read(project) == nil)
        recorder.record(status)
        await recorder.flush()
        #expect(try ProjectStatus.read(project) == status)
    }

    @Test("Nothing is written where others can enter; the status of the last run is")
    mutating func openFolder() async throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.runtimeRoot)
        recorder.record(status)
        await recorder.flush()
        #expect(!FileManager.default.fileExists(atPath: project.runningStatusPath))
        #expect(FileManager.default.fileExists(atPath: project.statusPath))
    }

    @Test("Whoever was answered or shown a change finds it written")
    func written() async throws {
        let supervisor = try scratch.supervisor(scratch.stack([.shell("a", Service.forever)]))
        let project = project
        try await supervisor.running { supervisor in
            for await shown in supervisor.statuses where shown["a"]?.startedAt != nil {
                #expect(try ProjectStatus.read(project)?["a"]?.pid == shown["a"]?.pid)
                break
            }
            try await supervisor.perform(.scale(["a": 20]))
            #expect(try ProjectStatus.read(project)?.services.count == 20)
        }
        #expect(try ProjectStatus.read(project)?.phase == .stopped)
    }
}

@Suite("The status that another version has written")
struct FormerStatusTests {
    @Test(
        "is none when all had ended, and otherwise is told: something may still run",
        arguments: [("stopped", true), ("up", false), ("stopping", false)])
    func former(phase: String, isPassedOver: Bool) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let root = scratch.path
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
