import Foundation
import Logging
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
        recorder.flush()
        #expect(try ProjectStatus.read(project) == status)
        let events = try await project.events(of: ["a"]).reduce(into: []) { $0.append($1.action) }
        #expect(events == [.created, .ready, .stopping, .stopped])
    }

    @Test("What has been written is not written again")
    func once() throws {
        recorder.record(status)
        recorder.flush()
        try FileManager.default.removeItem(atPath: project.statusPath)
        recorder.flush()
        #expect(try ProjectStatus.read(project) == nil)
        recorder.record(status)
        recorder.flush()
        #expect(try ProjectStatus.read(project) == status)
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
            try supervisor.perform(.scale(["a": 20]))
            #expect(try ProjectStatus.read(project)?.services.count == 20)
        }
        #expect(try ProjectStatus.read(project)?.phase == .stopped)
    }
}
