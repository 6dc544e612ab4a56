import EventBus
import Testing

@Suite("Rules that all buses share")
struct LedgerTests {
    private static let (one, two) = (MessageType(kind: .event, name: "One"), MessageType(kind: .event, name: "Two"))

    @Test("A claim reports one cut-off for each type, in the order of the first losses")
    func report() {
        var cutOffs = CutOffs()
        cutOffs.add([
            CutOff(type: Self.one, count: 2, offsets: 5...9), CutOff(type: Self.two, count: 1, offsets: 3...3),
        ])
        cutOffs.report(under: 1)
        cutOffs.add([CutOff(type: Self.one, count: 1, offsets: 11...11)])
        cutOffs.add([CutOff(type: Self.one, count: 1, offsets: 12...12)])
        #expect(cutOffs.entries.count == 3, "losses that no claim has reported are one entry")
        #expect(
            cutOffs.report == [
                CutOff(type: Self.two, count: 1, offsets: 3...3), CutOff(type: Self.one, count: 4, offsets: 5...12),
            ])
    }

    @Test("Cut-offs are confirmed only where they were reported")
    func confirm() {
        var cutOffs = CutOffs()
        cutOffs.add([CutOff(type: Self.one, count: 1, offsets: 1...1)])
        cutOffs.confirm { _ in true }
        #expect(!cutOffs.isEmpty, "no claim has reported it")
        cutOffs.report(under: 0)
        cutOffs.confirm { _ in true }
        #expect(!cutOffs.isEmpty, "a member without partitions can confirm nothing")
        cutOffs.report(under: 2)
        cutOffs.add([CutOff(type: Self.one, count: 1, offsets: 2...2)])
        cutOffs.confirm { $0 == 1 }
        #expect(cutOffs.report.map(\.count) == [2])
        cutOffs.confirm { $0 == 2 }
        #expect(cutOffs.report == [CutOff(type: Self.one, count: 1, offsets: 2...2)])
    }

    @Test("The number of lost messages never overflows")
    func overflow() {
        var cutOffs = CutOffs()
        for _ in 0..<2 { cutOffs.add([CutOff(type: Self.one, count: .max, offsets: 1...1)]) }
        #expect(cutOffs.report.map(\.count) == [1 << 53 - 1])
    }

    @Test(
        "Retention removes old messages that are handled, and any beyond the size limit",
        arguments: [
            (nil, nil, nil, 0), (5, nil, nil, 5), (5, 3, nil, 3), (5, 0, nil, 0), (5, 3, 4, 4), (nil, 0, 4, 4),
            (50, nil, nil, 10), (5, nil, 50, 10),
        ] as [(old: UInt64?, handled: UInt64?, tooLarge: UInt64?, end: UInt64)])
    func end(_ old: UInt64?, _ handled: UInt64?, _ tooLarge: UInt64?, _ end: UInt64) {
        #expect(RetentionLimits.end(old: old, handled: handled, tooLarge: tooLarge, last: 10) == end)
    }

    @Test("A consumer that lags is warned of once, and again after it has caught up or the journal has shrunk")
    func warnings() {
        var warnings = LagWarnings(of: "journal", unit: "offset")
        var positions: [String: UInt64] = ["late": 10, "fast": 90]
        func check(_ used: Int) -> [String] {
            warnings.update(positions.keys, { positions[$0] }, oldest: 0, end: 100, used: used, limit: 100)
        }
        #expect(check(79).isEmpty)
        #expect(
            check(85) == [
                "consumer 'late' has handled only up to offset 10 of 100, and the journal journal is 85 % full: start the "
                    + "consumer or find out why it lags, because at 100 % it loses messages"
            ])
        #expect(check(85).isEmpty)
        positions["late"] = 60
        #expect(check(85).isEmpty)
        positions["late"] = 10
        #expect(check(85).count == 1)
        #expect(check(69).isEmpty)
        #expect(check(85).count == 1)
        warnings.forget("late")
        #expect(check(85).count == 1)
    }

    @Test("A client is silent after 5 seconds, except while its bus was absent")
    func silence() {
        let start = ContinuousClock.now
        func time(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }
        var period = ListeningPeriod(absence: .seconds(2), at: start)
        let isPresent = (1...6).map { period.check(at: time($0)) }
        #expect(!isPresent.contains(false))
        #expect(!period.isSilent(since: start, at: time(5)) && period.isSilent(since: start, at: time(6)))
        #expect(!period.isSilent(since: time(1), at: time(6)))
        let wasPresent = period.check(at: time(9))
        #expect(!wasPresent, "absent for three seconds")
        #expect(period.start == time(9))
        #expect(!period.isSilent(since: start, at: time(14)) && period.isSilent(since: start, at: time(15)))
        period.begin(at: time(20))
        #expect(!period.isSilent(since: start, at: time(25)))
    }

    @Test("A member whose claim was ended claims again, unless another member owns the partition")
    func states() {
        let (owner, other) = (ConsumerMember.exclusive, ConsumerMember.exclusive)
        let partition = Partition.all[0]
        var group = ConsumerGroup()
        let owned = group.claim(owner)
        let claim = ConsumerClaim(
            consumer: "c", member: owner, ownerGeneration: owned.ownerGeneration, epoch: 1, offsets: owned.offsets)
        #expect(group.state(of: claim, at: partition) == .current)
        group = group.expelling([owner.id])?.group ?? group
        #expect(group.state(of: claim, at: partition) == .ended)
        _ = group.claim(owner)
        #expect(group.state(of: claim, at: partition) == .ended, "the member has another claim now")
        _ = group.claim(other)
        #expect(group.state(of: claim, at: partition) == .takenOver)
        #expect(ConsumerGroup().state(of: claim, at: partition) == .takenOver, "the consumer was removed")
    }

    @Test("The last publication of a document decides which client leases it")
    func leases() {
        var leases = DocumentLeases<Int>()
        let (one, two) = (DocumentName(Self.one, subject: "default"), DocumentName(Self.two, subject: "default"))
        leases.record(one, leasedBy: 1)
        leases.record(two, leasedBy: 1)
        leases.record(one, leasedBy: 2)
        #expect(leases.documents(of: 1) == [two] && leases.documents(of: 2) == [one])
        leases.record(two, leasedBy: nil)
        #expect(leases.documents(of: 1) == [] && leases.documents == [one])
    }
}
