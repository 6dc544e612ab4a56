import Foundation
import Logging
import TestSupport
import Testing

@testable import Compose

@Suite("Recorder of the supervisor's status")
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
        status.services = [InstanceStatus(name: "a", service: "a")]
    }

    @Test("Changes at the same time are written once, and each has its event")
    mutating func together() async throws {
        recorder.record(status)
        for state: InstanceStatus.State in [.ready, .stopping, .exited] {
            status.services[0].state = state
            recorder.record(status)
        }
        #expect(try ProjectStatus.read(project) == nil, "nobody has asked for it")
        await recorder.flush()
        #expect(try ProjectStatus.read(project) == status)
        let events = try await project.events(of: ["a"]).reduce(into: []) { $0.append($1.action) }
        #expect(events == [.created, .ready, .stopping, .stopped])
    }

    @Test("A status that is already written is not written again")
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

    @Test("No status is written in a folder that others can enter, and the former one is read")
    mutating func openFolder() async throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.runtimeRoot)
        recorder.record(status)
        await recorder.flush()
        #expect(!FileManager.default.fileExists(atPath: project.runningStatusPath))
        #expect(FileManager.default.fileExists(atPath: project.statusPath))
    }

    @Test("A change is written before it is reported to a client")
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

@Suite("Status file of another version")
struct FormerStatusTests {
    @Test(
        "The status is ignored if all services had ended, and refused otherwise",
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
