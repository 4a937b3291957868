package memwall

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/compare"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
)

// Types of requests and answers, documented in package api.
type (
	Answer          = api.Answer
	Calibration     = api.Calibration
	Candidate       = api.Candidate
	Catalog         = question.Catalog
	CurvePoint      = api.CurvePoint
	Day             = api.Day
	DayPart         = api.DayPart
	DayPlan         = api.DayPlan
	Device          = api.Device
	Diagnosed       = api.Diagnosed
	Diff            = api.Diff
	Edge            = api.Edge
	Error           = api.Error
	Evaluated       = api.Evaluated
	Explain         = api.Explain
	ExplainInput    = api.ExplainInput
	Field           = api.Field
	FieldDiff       = api.FieldDiff
	FitsOn          = api.FitsOn
	Sibling         = api.Sibling
	Fix             = api.Fix
	Fleet           = api.Fleet
	Found           = api.Found
	Goal            = api.Goal
	Item            = api.Item
	ItemDiff        = api.ItemDiff
	KV              = api.KV
	Launch          = api.Launch
	LayerGroup      = api.LayerGroup
	LengthSource    = api.LengthSource
	Line            = api.Line
	Load            = api.Load
	Match           = api.Match
	Measured        = api.Measured
	Memory          = api.Memory
	ModelInfo       = api.ModelInfo
	ModelSource     = api.ModelSource
	Note            = api.Note
	OperatorCall    = api.OperatorCall
	OperatorLine    = api.OperatorLine
	Owned           = api.Owned
	Ownership       = api.Ownership
	PerDevice       = api.PerDevice
	Percentiles     = api.Percentiles
	PhaseBytes      = api.PhaseBytes
	Pick            = api.Pick
	PickScore       = api.PickScore
	PickedAt        = api.PickedAt
	PoolUse         = api.PoolUse
	Print           = api.Print
	Progress        = api.Progress
	Projector       = api.Projector
	ProjectorSource = api.ProjectorSource
	Quality         = api.Quality
	Quantiles       = api.Quantiles
	Reasons         = api.Reasons
	Request         = api.Request
	Requests        = api.Requests
	Resolved        = api.Resolved
	Rise            = api.Rise
	Roof            = api.Roof
	RoofPoint       = api.RoofPoint
	Roofline        = api.Roofline
	Rung            = api.Rung
	Series          = api.Series
	Simulated       = api.Simulated
	Speed           = api.Speed
	SpeedPart       = api.SpeedPart
	StartupLog      = compare.StartupLog
	StepPart        = api.StepPart
	Suggestion      = api.Suggestion
	Throughput      = api.Throughput
	TraceSource     = api.TraceSource
	TrainingRun     = api.TrainingRun
	TrainingStep    = api.TrainingStep
	Unsaid          = api.Unsaid
	Verdict         = api.Verdict
	Versus          = api.Versus
	Waste           = api.Waste
	Watch           = api.Watch
	WhatIf          = api.WhatIf
)

// Verdicts, error codes and other constants of requests and answers, documented in package api.
const (
	BadField        = api.BadField
	BadFile         = api.BadFile
	DefaultContext  = api.DefaultContext
	DoesNotFit      = api.DoesNotFit
	Fits            = api.Fits
	ImpossiblePlan  = api.ImpossiblePlan
	Internal        = api.Internal
	Limit           = api.Limit
	Remote          = api.Remote
	Schema          = api.Schema
	ServingTable    = timing.ServingTable
	Stopped         = api.Stopped
	StreamTable     = timing.StreamTable
	Tight           = api.Tight
	Unknown         = api.Unknown
	UnknownHardware = api.UnknownHardware
	UnknownModel    = api.UnknownModel
	Unsupported     = api.Unsupported
)
